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

// store is an open time series database.
type store struct{ *tsdb.DB }

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
	// blockSegment is the size of a file of a block's chunks. That much is
	// allocated for each block that is written, 512 MiB by default, and cut to
	// what it took.
	blockSegment = 8 << 20
	// never is how often the database looks after itself. What it writes then
	// ends the process if the disk is full: it panics, in a goroutine of its own.
	never = time.Duration(math.MaxInt64)
)

// openStore opens or makes the database in the directory tsdb of dir. Without a
// log it forgets its newest samples when it is closed.
func openStore(dir string, retention time.Duration, log bool, logger *slog.Logger) (*store, error) {
	o := tsdb.DefaultOptions()
	o.RetentionDuration = retention.Milliseconds()
	o.MinBlockDuration = headSpan.Milliseconds()
	o.MaxBlockDuration = max(headSpan, min(longSpan, retention/10)).Milliseconds()
	o.MaxBlockChunkSegmentSize = blockSegment
	o.StripeSize, o.HeadChunksWriteBufferSize = stripes, chunkBuffer
	o.WALSegmentSize, o.WALCompression = walSegment, compression.Snappy
	o.BlockReloadInterval = never
	if !log {
		o.WALSegmentSize = -1
	}
	var s store
	err := calmly(func() (err error) {
		s.DB, err = tsdb.Open(filepath.Join(dir, "tsdb"), logger, nil, o, nil)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the pager's storage in %q: %w; if its files are damaged, move them away", dir, err)
	}
	s.DisableCompactions() // what an appender asks for is done by tidy, too
	return &s, nil
}

// tidy moves what is complete from the heap to files, and what is old from there
// to blocks; what has passed its retention goes with the next new block. It is
// what the database would do by itself, in a goroutine of its own. A brokenError
// says that the database cannot be used any more.
func (s *store) tidy(ctx context.Context) error {
	return calmly(func() error {
		s.ForceHeadMMap()
		return s.Compact(ctx)
	})
}

// close closes the database. After a brokenError it is left as it is, with a
// goroutine and a few files that stay open.
func (s *store) close() error { return calmly(s.DB.Close) }

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

// brokenError says that a database failed in the middle of something: what it
// holds in memory and what lies on the disk may differ.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// calmly makes an error of a panic, which is how the database takes it that
// chunks cannot be written.
func calmly(do func() error) (err error) {
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
