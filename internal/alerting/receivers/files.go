package receivers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/alertmanager/eventrecorder"
	"github.com/prometheus/alertmanager/nflog"
	"github.com/prometheus/alertmanager/nflog/nflogpb"
	"github.com/prometheus/alertmanager/silence"
	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/atomicfile"
)

// Names of the files in the pager's directory.
const (
	logFile      = "notifications"
	silencesFile = "silences"
)

// files is the log of sent messages and the silences. Alertmanager saves both every 15 minutes; here each
// change is saved at once, so that a killed process repeats no message and forgets no silence.
type files struct {
	log      *nflog.Log
	silences *silence.Silences
	options  Options
	saving   sync.Mutex
}

func readFiles(o Options) (*files, error) {
	f := &files{options: o}
	sent, err := read(o.Dir, logFile)
	if err != nil {
		return nil, err
	}
	f.log, err = nflog.New(nflog.Options{SnapshotReader: sent, Retention: retention, Logger: o.EngineLogger, Metrics: prometheus.NewRegistry()})
	if err != nil {
		return nil, damaged(o.Dir, logFile, err, "messages about firing alerts are then repeated")
	}
	saved, err := read(o.Dir, silencesFile)
	if err != nil {
		return nil, err
	}
	f.silences, err = silence.New(silence.Options{
		SnapshotReader: saved, Retention: retention, Logger: o.EngineLogger, Metrics: prometheus.NewRegistry(), EventRecorder: eventrecorder.NopRecorder(),
		Limits: silence.Limits{MaxSilences: func() int { return maxSilences }, MaxSilenceSizeBytes: func() int { return maxSilenceBytes }},
	})
	if err != nil {
		return nil, damaged(o.Dir, silencesFile, err, "there are then no silences")
	}
	return f, nil
}

func read(dir, name string) (io.Reader, error) {
	if dir == "" {
		return bytes.NewReader(nil), nil
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading a file of alerting.directory: %w", err)
	}
	return bytes.NewReader(data), nil
}

func damaged(dir, name string, err error, effect string) error {
	return fmt.Errorf("reading %q: %w; remove the file to start without it (%s)", filepath.Join(dir, name), err, effect)
}

// Log implements notify.NotificationLog. An error would make Alertmanager send the message again, so a
// log that cannot be saved is only reported.
func (f *files) Log(r *nflogpb.Receiver, group string, firing, resolved []uint64, store *nflog.Store, expiry time.Duration) error {
	err := f.log.Log(r, group, firing, resolved, store, expiry)
	if saved := f.save(logFile, f.log); saved != nil {
		f.options.Logger.Error("Cannot save which messages were sent: a restart would repeat them", "err", saved)
	}
	return err
}

// content is the state of the log or of the silences.
type content interface {
	GC() (int, error)
	Snapshot(w io.Writer) (int64, error)
}

// save drops outdated entries and writes the rest.
func (f *files) save(name string, c content) error {
	if f.options.Dir == "" {
		return nil
	}
	f.saving.Lock() // so that an older state does not replace a newer one
	defer f.saving.Unlock()
	var data bytes.Buffer
	_, err := c.GC()
	if err == nil {
		_, err = c.Snapshot(&data)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(f.options.Dir, name), data.Bytes(), 0o600)
	}
	return err
}

// Query implements notify.NotificationLog.
func (f *files) Query(params ...nflog.QueryParam) ([]*nflogpb.Entry, error) {
	return f.log.Query(params...)
}
