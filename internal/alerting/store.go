package alerting

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/compression"
)

// store is the time series database and where it lies.
type store struct {
	*tsdb.DB
	dir string
	// lasting says that the directory was given and is kept.
	lasting bool
}

const (
	// headSpan is the span of a block. The newest 1.5 spans lie on the heap,
	// what is older is mapped from files: short blocks keep the heap small.
	headSpan = 30 * time.Minute
	// longSpan is the longest that blocks are merged to.
	longSpan = 9 * headSpan
	// stripes of the series' hash map: the default of 16,384 is for millions of
	// series and takes megabytes.
	stripes = 256
	// chunkBuffer is the buffer for chunks on their way to files, 4 MiB by
	// default.
	chunkBuffer = 64 << 10
	// walSegment is the size of a file of the write-ahead log.
	walSegment = 8 << 20
)

// openStore opens or makes the database. Without a directory it lies in a
// temporary one, and has no write-ahead log: nobody will read it.
func openStore(dir string, retention time.Duration, logger *slog.Logger) (*store, error) {
	s := &store{dir: dir, lasting: dir != ""}
	o := tsdb.DefaultOptions()
	o.RetentionDuration = retention.Milliseconds()
	o.MinBlockDuration = headSpan.Milliseconds()
	o.MaxBlockDuration = max(headSpan, min(longSpan, retention/10)).Milliseconds()
	o.StripeSize, o.HeadChunksWriteBufferSize = stripes, chunkBuffer
	o.WALSegmentSize, o.WALCompression = walSegment, compression.Snappy
	if !s.lasting {
		tmp, err := os.MkdirTemp("", "synthetic-pager-")
		if err != nil {
			return nil, fmt.Errorf("making a temporary directory for the pager: %w; set alerting.directory to one that can be written to", err)
		}
		s.dir, o.WALSegmentSize = tmp, -1
	}
	db, err := tsdb.Open(filepath.Join(s.dir, "tsdb"), logger, nil, o, nil)
	if err != nil {
		s.removeTemporary()
		return nil, fmt.Errorf("opening the pager's storage in %q: %w; if its files are damaged, move them away", s.dir, err)
	}
	s.DB = db
	return s, nil
}

// newest is the time of the newest sample, zero if there is none.
func (s *store) newest() time.Time {
	newest := int64(0)
	for _, b := range s.Blocks() {
		newest = max(newest, b.MaxTime())
	}
	if h := s.Head(); h.NumSeries() > 0 {
		newest = max(newest, h.MaxTime())
	}
	if newest == 0 {
		return time.Time{}
	}
	return time.UnixMilli(newest)
}

// close closes the database, and removes it if it was temporary.
func (s *store) close() error {
	err := s.DB.Close()
	s.removeTemporary()
	return err
}

func (s *store) removeTemporary() {
	if !s.lasting {
		_ = os.RemoveAll(s.dir) // a leftover in the temporary directory harms nobody
	}
}
