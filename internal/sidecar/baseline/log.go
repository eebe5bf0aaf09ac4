// Package minutes keeps a row of numbers for each of many minutes in few bits, and
// exactly: what is written once a minute and read a few times a day is most of what
// a target holds.
//
// Each number is written as its difference from the one above it, in a code that is
// short for differences of the size that its column had lately (Rice's). Columns
// that did not change last time share one bit while they still do not.
package baseline

import (
	"iter"
	"slices"
)

// chunkBytes are dropped at once when they are too old.
const chunkBytes = 4096

// Log is a log of minutes, the oldest first. The zero value is empty. All its rows
// are of the same width. It is not safe for concurrent use.
type MinuteLog struct {
	chunks []chunk
	// columns are as the newest row left them.
	columns []column
	last    int64
}

// chunk is some rows; each has the minutes without a row before it, and its numbers.
type chunk struct {
	first int64 // minute
	rows  int
	code  code
}

// Put adds the row of a minute, numbered from any time. What was put for it or for
// later ones is dropped: the clock was set back.
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

// Forget drops the rows of before a minute, as far as they can be dropped cheaply.
func (l *MinuteLog) Forget(before int64) {
	for len(l.chunks) > 1 && l.chunks[1].first <= before {
		l.chunks = slices.Delete(l.chunks, 0, 1)
	}
}

// Last is the newest minute, 0 of an empty log.
func (l *MinuteLog) Last() int64 { return l.last }

// From gives the minutes from one on and their rows, which are good until the next
// one.
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
