package status

// ring keeps the last values that were added, up to a fixed number. The zero
// ring keeps none; use newRing.
type ring[T any] struct {
	values []T
	size   int
	next   int // where the next value goes once the ring is full
}

// newRing returns a ring of so many values. It takes memory as it fills.
func newRing[T any](size int) ring[T] { return ring[T]{size: size} }

// add appends a value, in place of the oldest one if the ring is full.
func (r *ring[T]) add(v T) {
	if len(r.values) < r.size {
		r.values = append(r.values, v)
		return
	}
	if r.size == 0 {
		return
	}
	r.values[r.next] = v
	r.next = (r.next + 1) % r.size
}

// all returns a copy of the values, oldest first.
func (r *ring[T]) all() []T {
	out := make([]T, 0, len(r.values))
	return append(append(out, r.values[r.next:]...), r.values[:r.next]...)
}

// full reports whether the next value pushes out another.
func (r *ring[T]) full() bool { return len(r.values) == r.size }
