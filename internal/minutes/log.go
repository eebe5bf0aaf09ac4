// Package minutes keeps a row of numbers for each of many minutes in few bits, and
// exactly: what is written once a minute and read a few times a day is most of what
// a target holds.
//
// Each number is written as its difference from the one above it, in a code that is
// short for differences of the size that its column had lately (Rice's). Columns
// that did not change last time share one bit while they still do not.
package minutes

import (
	"iter"
	"slices"
)

// chunkBytes are dropped at once when they are too old.
const chunkBytes = 4096

// Log is a log of minutes, the oldest first. The zero value is empty. All its rows
// are of the same width. It is not safe for concurrent use.
type Log struct {
	chunks []chunk
	// columns are as they were left by the newest row.
	columns []column
	last    int64
}

// chunk is some rows of successive minutes: bits is all that it takes to read them.
type chunk struct {
	first int64 // minute
	rows  int
	bits  bitString
}

// Put adds the row of a minute, numbered from any time. What was put for it or for
// later ones is dropped: the clock was set back.
func (l *Log) Put(minute int64, row ...uint32) {
	l.Cut(minute)
	at := len(l.chunks) - 1
	if at < 0 || l.chunks[at].bits.end/8+maxRow(len(row)) > chunkBytes {
		if at >= 0 {
			l.chunks[at].bits.data = slices.Clone(l.chunks[at].bits.data)
		}
		l.chunks, l.columns = append(l.chunks, chunk{first: minute}), make([]column, len(row)+1)
		l.last = minute - 1
		at++
	}
	c := &l.chunks[at]
	c.bits.write(l.columns, append([]uint32{uint32(minute - l.last - 1)}, row...))
	c.rows++
	l.last = minute
}

// Cut drops the rows from a minute on.
func (l *Log) Cut(minute int64) {
	if len(l.chunks) == 0 || minute > l.last {
		return
	}
	old := *l
	*l = Log{}
	for m, row := range old.From(old.chunks[0].first) {
		if m >= minute {
			return
		}
		l.Put(m, row...)
	}
}

// Forget drops the rows of before a minute, as far as they can be dropped cheaply.
func (l *Log) Forget(before int64) {
	for len(l.chunks) > 1 && l.chunks[1].first <= before {
		l.chunks = slices.Delete(l.chunks, 0, 1)
	}
}

// Last is the newest minute, 0 of an empty log.
func (l *Log) Last() int64 { return l.last }

// From gives the minutes from one on and their rows, which are good until the next
// one.
func (l *Log) From(minute int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		for i := range l.chunks {
			if i+1 < len(l.chunks) && l.chunks[i+1].first <= minute {
				continue
			}
			if !l.chunks[i].from(minute, len(l.columns), yield) {
				return
			}
		}
	}
}

func (c *chunk) from(minute int64, width int, yield func(int64, []uint32) bool) bool {
	columns, row, m, at := make([]column, width), make([]uint32, width), c.first-1, 0
	for range c.rows {
		at = c.bits.read(at, columns, row)
		m += int64(row[0]) + 1
		if m >= minute && !yield(m, row[1:]) {
			return false
		}
	}
	return true
}
