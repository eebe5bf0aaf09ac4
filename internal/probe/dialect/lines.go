package dialect

import (
	"bytes"
	"sync"
)

const byteOrderMark = "\xEF\xBB\xBF"

// lines splits a stream into lines that end in LF, CR or CRLF. Its buffer grows only for a line that
// does not fit. A line that ends in CR is returned without waiting for a possible LF.
type lines struct {
	buf        []byte
	start, end int  // the bytes that have been read but not returned
	scanned    int  // there is no line end before this position
	lf         int  // the first LF at or after start, or -1 if there is none before lfEnd
	lfEnd      int  // LFs have been searched up to this position
	skipLF     bool // the last line ended in CR
	started    bool // the first line has been returned
}

// next returns the next complete line without its end. The line is valid until the next call of
// space.
func (l *lines) next() ([]byte, bool) {
	if l.skipLF && l.start < l.end {
		l.skipLF = false
		if l.buf[l.start] == '\n' {
			l.start++
		}
	}
	l.scanned = max(l.scanned, l.start)
	l.findLF()
	stop := l.end
	if l.lf >= 0 {
		stop = l.lf
	}
	if i := bytes.IndexByte(l.buf[l.scanned:stop], '\r'); i >= 0 {
		stop = l.scanned + i
		l.skipLF = true
	} else if l.lf < 0 {
		l.scanned = l.end
		return nil, false
	}
	line := l.buf[l.start:stop]
	l.start = stop + 1
	return l.withoutBOM(line), true
}

// findLF updates lf. It searches each byte once, so that a stream without LFs costs no more than
// others.
func (l *lines) findLF() {
	if l.lf >= l.start && l.lf < l.lfEnd {
		return
	}
	from := max(l.lfEnd, l.start)
	l.lf = -1
	if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
		l.lf = from + i
		l.lfEnd = l.lf + 1
		return
	}
	l.lfEnd = l.end
}

// withoutBOM removes a byte order mark from the first line.
func (l *lines) withoutBOM(line []byte) []byte {
	if l.started {
		return line
	}
	l.started = true
	return bytes.TrimPrefix(line, []byte(byteOrderMark))
}

// rest returns and removes the bytes after the last line end.
func (l *lines) rest() []byte {
	line := l.buf[l.start:l.end]
	l.start = l.end
	return l.withoutBOM(line)
}

// pending returns the bytes of the incomplete line.
func (l *lines) pending() []byte { return l.buf[l.start:l.end] }

// space returns a buffer for the next read, which is never empty. It grows at most to hold a line of
// limit bytes and its end.
func (l *lines) space(limit int) []byte {
	used := l.end - l.start
	size := cap(l.buf)
	switch {
	case size == 0 || used == 0 && size > keptBuffer:
		size = smallBuffer
	case used > size-size/4: // a smaller rest would need more reads
		size = max(min(2*size, limit+len(byteOrderMark)+2), size, used+1)
	}
	if size != cap(l.buf) {
		grown := newBuffer(size)
		copy(grown, l.pending())
		l.buf = grown
	} else if l.start > 0 {
		copy(l.buf, l.pending())
	}
	l.scanned = max(l.scanned-l.start, 0)
	l.lfEnd = max(l.lfEnd-l.start, 0)
	l.lf = -1 // next has returned all complete lines
	l.start, l.end = 0, used
	return l.buf[l.end:]
}

// add adds n bytes that were read into space.
func (l *lines) add(n int) { l.end += n }

// close lets later streams use the buffer.
func (l *lines) close() {
	if cap(l.buf) == smallBuffer {
		smallBuffers.Put((*[smallBuffer]byte)(l.buf[:smallBuffer]))
	}
	*l = lines{}
}

var smallBuffers = sync.Pool{New: func() any { return new([smallBuffer]byte) }}

func newBuffer(size int) []byte {
	if size == smallBuffer {
		return smallBuffers.Get().(*[smallBuffer]byte)[:]
	}
	return make([]byte, size)
}
