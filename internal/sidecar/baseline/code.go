package baseline

import (
	"encoding/binary"
	"math/bits"
)

// longest is the number of leading ones that announces a difference written in full.
const longest = 24

// column is the state of one column of numbers.
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
	for i, of := range columns {
		if still = still || of.still; of.still && row[i] != of.last {
			moved = 1
		}
	}
	if still {
		moved = c.bits(moved, 1)
	}
	for i := range columns {
		of := &columns[i]
		d := row[i] - of.last
		d = d<<1 ^ uint32(int32(d)>>31)
		switch {
		case !of.still:
			d = c.difference(d, of.size)
		case moved == 0 || c.bits(min(d, 1), 1) == 0:
			d = 0
		default:
			d = c.difference(d-1, of.size) + 1
		}
		of.take(d)
		row[i] = of.last
	}
}
