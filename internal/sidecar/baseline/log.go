// A MinuteLog is exact and compact, because minutes take most of the memory of a target. They
// are written once a minute and rarely read.
//
// Each number is stored as its difference from the previous row, in a Rice code whose parameter
// follows the recent differences of its column. Columns that did not change in the previous row
// share one bit while they stay unchanged.
package baseline

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
)

// Old minutes are dropped in chunks of about chunkBytes.
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

// longest is the number of leading ones that announces a difference in full.
const longest = 24

type column struct {
	last uint32
	// size is 16 × the recent mean of the non-zero differences.
	size uint64
	// still is true if the last row did not change the column.
	still bool
}

// take records an encoded difference: 2d for an increase of d, 2d−1 for a decrease of d.
func (c *column) take(d uint32) {
	c.last += d>>1 ^ -(d & 1)
	if c.still = d == 0; !c.still {
		c.size += uint64(d) - c.size/16
	}
}

// code is a string of bits, lowest bit of each byte first, for writing or for reading. When
// writing, methods encode their arguments; when reading, they return decoded values.
type code struct {
	data []byte
	at   int
	read bool
}

// bits writes or reads n bits, at most 32.
func (c *code) bits(v uint32, n int) uint32 {
	i := c.at / 8
	for !c.read && len(c.data) < i+8 {
		c.data = append(c.data, 0)
	}
	all := binary.LittleEndian.Uint64(c.data[i:])
	if !c.read {
		all |= uint64(v) & (1<<n - 1) << (c.at % 8)
		binary.LittleEndian.PutUint64(c.data[i:], all)
	}
	c.at += n
	return uint32(all >> ((c.at - n) % 8) & (1<<n - 1))
}

// difference encodes a number. Numbers near the recent size take the fewest bits.
func (c *code) difference(d uint32, size uint64) uint32 {
	shift, ones := max(bits.Len64(size/16)-1, 0), uint32(0)
	for ones < longest && c.bits(min(max(d>>shift, ones)-ones, 1), 1) > 0 {
		ones++
	}
	if ones == longest {
		return c.bits(d, 32)
	}
	return ones<<shift | c.bits(d, shift)
}

// row starts with one bit that says whether any still column changed, if there is a still
// column. If so, each still column has a bit of its own.
func (c *code) row(columns []column, row []uint32) {
	moved, still := uint32(0), false
	for i, column := range columns {
		if still = still || column.still; column.still && row[i] != column.last {
			moved = 1
		}
	}
	if still {
		moved = c.bits(moved, 1)
	}
	for i := range columns {
		column := &columns[i]
		d := row[i] - column.last
		d = d<<1 ^ uint32(int32(d)>>31)
		switch {
		case !column.still:
			d = c.difference(d, column.size)
		case moved == 0 || c.bits(min(d, 1), 1) == 0:
			d = 0
		default:
			d = c.difference(d-1, column.size) + 1
		}
		column.take(d)
		row[i] = column.last
	}
}
