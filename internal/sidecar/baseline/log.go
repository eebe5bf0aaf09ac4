// A MinuteLog is exact and compact, because minutes are most of the memory of a target: they
// are written once a minute and rarely read.
//
// Each number is stored as its difference from the previous row, in a Rice code whose parameter
// follows the recent differences of its column. Columns that did not change in the previous row
// share one bit while they stay unchanged.
package baseline

import (
	"iter"
	"slices"
)

// chunkBytes is the size of the chunks in which old minutes are dropped.
const chunkBytes = 4096

// MinuteLog holds rows of numbers by minute, oldest first. All rows have the same width. The
// zero value is empty. It is not safe for concurrent use.
type MinuteLog struct {
	chunks []chunk
	// state after the newest row
	columns []column
	last    int64
}

// chunk holds some rows, each with the number of minutes without a row before it.
type chunk struct {
	first int64 // minute
	rows  int
	code  code
}

// Put adds the row of a minute. It drops existing rows of this minute and later ones, because
// the clock was set back.
func (l *MinuteLog) Put(minute int64, row ...uint32) {
	l.Cut(minute)
	n := len(l.chunks) - 1
	if n < 0 || len(l.chunks[n].code.data) > chunkBytes-8*len(l.columns) {
		if n >= 0 {
			l.chunks[n].code.data = slices.Clone(l.chunks[n].code.data)
		}
		l.chunks, l.columns, l.last = append(l.chunks, chunk{first: minute}), make([]column, len(row)+1), minute-1
		n++
	}
	c := &l.chunks[n]
	c.code.row(l.columns, append([]uint32{uint32(minute - l.last - 1)}, row...))
	c.rows++
	l.last = minute
}

// Cut drops the rows from a minute on.
func (l *MinuteLog) Cut(minute int64) {
	if len(l.chunks) == 0 || minute > l.last {
		return
	}
	old := *l
	*l = MinuteLog{}
	for m, row := range old.From(old.chunks[0].first) {
		if m >= minute {
			return
		}
		l.Put(m, row...)
	}
}

// Forget drops old chunks whose rows are all before a minute.
func (l *MinuteLog) Forget(before int64) {
	for len(l.chunks) > 1 && l.chunks[1].first <= before {
		l.chunks = slices.Delete(l.chunks, 0, 1)
	}
}

// Last returns the newest minute, 0 if the log is empty.
func (l *MinuteLog) Last() int64 { return l.last }

// From returns the minutes from one on with their rows. A row is valid until the next
// iteration.
func (l *MinuteLog) From(minute int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		for i, c := range l.chunks {
			if i+1 < len(l.chunks) && l.chunks[i+1].first <= minute {
				continue
			}
			columns, row, m := make([]column, len(l.columns)), make([]uint32, len(l.columns)), c.first-1
			for read := (code{data: c.code.data, read: true}); c.rows > 0; c.rows-- {
				read.row(columns, row)
				if m += int64(row[0]) + 1; m >= minute && !yield(m, row[1:]) {
					return
				}
			}
		}
	}
}
