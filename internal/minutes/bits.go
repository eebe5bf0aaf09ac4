package minutes

import (
	"encoding/binary"
	"math/bits"
)

const (
	// longest is how many ones begin a difference that is written in full.
	longest = 24
	// slack follows the last bit, so that eight bytes can be read anywhere.
	slack = 8
)

// maxRow is the most bytes that a row of so many columns, and the gap before it, may
// take, slack included.
func maxRow(columns int) int { return (columns+1)*(longest+32+2)/8 + 2*slack }

// column is what is known of the numbers of a column so far.
type column struct {
	last uint32
	// size is 16 times the mean of the differences lately, of those that were any.
	size uint64
	// still says that the last row brought no difference.
	still bool
}

// shift is how many low bits of a difference are written as they are.
func (c *column) shift() int { return max(bits.Len64(c.size/16)-1, 0) }

// took takes note of a difference.
func (c *column) took(d uint32) {
	c.last += d>>1 ^ -(d & 1)
	if c.still = d == 0; !c.still {
		c.size += uint64(d) - c.size/16
	}
}

// difference of a number from the last one: those of either sign are small if they
// are near.
func (c *column) difference(v uint32) uint32 {
	d := v - c.last
	return d<<1 ^ uint32(int32(d)>>31)
}

// bitString is a growing string of bits, the lowest of each byte first.
type bitString struct {
	data []byte
	end  int
}

// put appends the low n bits of v, of which the others are 0, and n at most 56.
func (b *bitString) put(v uint64, n int) {
	i := b.end / 8
	for len(b.data) < i+2*slack {
		b.data = append(b.data, 0)
	}
	binary.LittleEndian.PutUint64(b.data[i:], binary.LittleEndian.Uint64(b.data[i:])|v<<(b.end%8))
	b.end += n
}

// at are at least 56 bits from one on.
func (b *bitString) at(bit int) uint64 {
	return binary.LittleEndian.Uint64(b.data[bit/8:]) >> (bit % 8)
}

// putRice appends a difference.
func (b *bitString) putRice(d uint32, shift int) {
	if ones := int(d >> shift); ones < longest {
		b.put(1<<ones-1, ones+1)
		b.put(uint64(d)&(1<<shift-1), shift)
		return
	}
	b.put(1<<longest-1, longest)
	b.put(uint64(d), 32)
}

// rice reads a difference, and where the next one begins.
func (b *bitString) rice(bit, shift int) (d uint32, next int) {
	ones := bits.TrailingZeros64(^b.at(bit))
	if ones >= longest {
		return uint32(b.at(bit + longest)), bit + longest + 32
	}
	bit += ones + 1
	return uint32(ones)<<shift | uint32(b.at(bit)&(1<<shift-1)), bit + shift
}
