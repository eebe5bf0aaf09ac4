package alerting

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"time"

	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/compression"
)

type store struct{ *tsdb.DB }

const (
	// blockSpan is the span of a block. The newest 1.5 spans are on the heap, older samples are
	// mapped from files, so short blocks keep the heap small.
	blockSpan = 30 * time.Minute
	// retention is how long samples are kept. Merged blocks span at most a tenth of it.
	retention = 24 * time.Hour
	// stripes is the size of the series hash map. The default of 16,384 is for millions of series
	// and takes megabytes.
	stripes = 256
	// chunkBuffer is the size of the buffer for writing chunks; the default is 4 MiB.
	chunkBuffer = 64 << 10
	// walSegment is the size of a file of the write-ahead log.
	walSegment = 8 << 20
	// blockSegment is the size of a file of a block's chunks. It is allocated in full for each
	// block, and then cut to the written size; the default is 512 MiB.
	blockSegment = 8 << 20
	// never replaces the interval of the database's own maintenance. On a full disk that
	// maintenance panics in its own goroutine, which would end the process.
	never = time.Duration(math.MaxInt64)
)

// openStore opens or creates the database in the directory tsdb of dir. Without a log it loses
// its newest samples when it is closed.
func openStore(dir string, log bool, logger *slog.Logger) (*store, error) {
	o := tsdb.DefaultOptions()
	o.RetentionDuration = retention.Milliseconds()
	o.MinBlockDuration = blockSpan.Milliseconds()
	o.MaxBlockDuration = (retention / 10).Milliseconds()
	o.MaxBlockChunkSegmentSize = blockSegment
	o.StripeSize, o.HeadChunksWriteBufferSize = stripes, chunkBuffer
	o.WALSegmentSize, o.WALCompression = walSegment, compression.Snappy
	o.BlockReloadInterval = never
	if !log {
		o.WALSegmentSize = -1
	}
	var s store
	err := recoverPanic(func() (err error) {
		s.DB, err = tsdb.Open(filepath.Join(dir, "tsdb"), logger, nil, o, nil)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the pager's storage in %q: %w; its directory must be writable, and damaged files in it must be removed", dir, err)
	}
	s.DisableCompactions() // compact does also what an appender requests
	return &s, nil
}

// compact moves complete chunks from the heap to files, and old chunks to blocks. Samples beyond
// the retention are removed with the next new block. The database would do this in its own
// goroutine. After a brokenError the database cannot be used any more.
func (s *store) compact(ctx context.Context) error {
	return recoverPanic(func() error {
		s.ForceHeadMMap()
		return s.Compact(ctx)
	})
}

// close closes the database. If it fails, a goroutine and a few open files remain.
func (s *store) close() error { return recoverPanic(s.DB.Close) }

// newest returns the time of the newest sample, zero without samples.
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

// brokenError reports that a database failed in the middle of a change, so that its memory and its
// files may differ.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// recoverPanic turns a panic into an error: the database panics if it cannot write chunks.
func recoverPanic(do func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = brokenError{r}
		default:
			err = brokenError{fmt.Errorf("%v", r)}
		}
	}()
	return do()
}
