package sketch

// Bytes is the memory the sketch holds beyond its own struct.
func (s *Sketch) Bytes() int { return cap(s.bins) * 8 }

// Bytes is the memory the window holds beyond its own struct.
func (w *Window) Bytes() int {
	n := 0
	for i := range w.cells {
		n += w.cells[i].Bytes()
	}
	return n
}
