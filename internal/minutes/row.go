package minutes

import "slices"

// A row begins with one bit that says whether any of the columns that were still
// changed, if there are such; if so, each of them with one bit of its own.

func isStill(c column) bool { return c.still }

// write appends a row.
func (b *bitString) write(columns []column, row []uint32) {
	moved := uint64(0)
	for i := range columns {
		if columns[i].still && row[i] != columns[i].last {
			moved = 1
		}
	}
	if slices.ContainsFunc(columns, isStill) {
		b.put(moved, 1)
	}
	for i := range columns {
		c := &columns[i]
		d := c.difference(row[i])
		switch {
		case !c.still:
			b.putRice(d, c.shift())
		case d > 0:
			b.put(1, 1)
			b.putRice(d-1, c.shift())
		case moved > 0:
			b.put(0, 1)
		}
		c.took(d)
	}
}

// read reads the row that begins at a bit, and says where the next one does.
func (b *bitString) read(bit int, columns []column, row []uint32) int {
	moved := false
	if slices.ContainsFunc(columns, isStill) {
		moved = b.at(bit)&1 > 0
		bit++
	}
	for i := range columns {
		c, d := &columns[i], uint32(0)
		some := !c.still
		if c.still && moved {
			some = b.at(bit)&1 > 0
			bit++
		}
		if some {
			d, bit = b.rice(bit, c.shift())
		}
		if some && c.still {
			d++
		}
		c.took(d)
		row[i] = c.last
	}
	return bit
}
