package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

const (
	// seedLength is the number of codes, of 7 bits each, in one seed.
	seedLength = 8
	seedMask   = 1<<(7*seedLength) - 1
	// filterWords is the size of a Bloom filter: 32 KiB.
	filterWords = 1 << 12
)

type identity struct {
	secret string
	run    int
}

// generation holds secrets and the spellings by which they are found.
type generation struct {
	known map[identity]bool
	size  int // bytes of the secrets
	// words compares letters and digits only. symbols compares all visible ASCII characters; it
	// has the secrets with so much punctuation that their letters and digits are not distinctive.
	words, symbols index
	// short has the secrets that are too short for an index.
	short whole
}

func (g *generation) add(id identity) {
	if g.known == nil {
		g.known = map[identity]bool{}
	}
	g.known[id] = true
	g.size += len(id.secret)
	if len(id.secret) < keyRun || len(encode([]byte(id.secret), &symbolCodes)) < seedLength {
		g.addWhole(id.secret)
		return
	}
	for i, s := range spellings(id.secret) {
		s.run = min(id.run, s.size)
		weak := g.words.add(s.form(&wordCodes))
		if raw := i < 2; raw && weak {
			g.symbols.add(s.form(&symbolCodes))
		}
	}
}

// addWhole adds a short secret: as it is, in hex, and the parts of its base64 that do not depend on
// the text around it.
func (g *generation) addWhole(secret string) {
	lower := hex.EncodeToString([]byte(secret))
	g.short.add(secret)
	g.short.add(lower)
	g.short.add(strings.ToUpper(lower))
	for shift := range 3 {
		text := string(inBase64(secret, shift).text)
		g.short.add(text)
		g.short.add(strings.NewReplacer("+", "-", "/", "_").Replace(text))
	}
}

// whole finds texts that appear in full. Each has at least shortestKey bytes.
type whole struct {
	texts map[string]bool
	// lengths holds the lengths of the texts by their first shortestKey bytes, longest first.
	lengths map[uint64][]int
	filter  bloom // of the keys of lengths
}

const beginMask = 1<<(8*shortestKey) - 1

func (w *whole) add(text string) {
	if w.texts == nil {
		w.texts, w.lengths, w.filter = map[string]bool{}, map[uint64][]int{}, make(bloom, filterWords)
	}
	w.texts[text] = true
	begin := uint64(0)
	for i := range shortestKey {
		begin = begin<<8 | uint64(text[i])
	}
	w.filter.add(begin)
	if !slices.Contains(w.lengths[begin], len(text)) {
		w.lengths[begin] = append(w.lengths[begin], len(text))
		slices.SortFunc(w.lengths[begin], func(a, b int) int { return b - a })
	}
}

// find calls found with the place of each text. Where several begin, it is the longest.
func (w *whole) find(text string, found func(from, to int)) {
	begin := uint64(0)
	for i := range len(text) {
		begin = (begin<<8 | uint64(text[i])) & beginMask
		from := i + 1 - shortestKey
		if from < 0 || !w.filter.mayHave(begin) {
			continue
		}
		for _, n := range w.lengths[begin] {
			if from+n <= len(text) && w.texts[text[from:from+n]] {
				found(from, from+n)
				break
			}
		}
	}
}

// spelling is one way to write a secret of size bytes. Character i of text belongs to byte byteOf(i)
// of the secret.
type spelling struct {
	text   []byte
	byteOf func(i int) int
	size   int
	run    int
}

// spellings returns the ways to write a secret. The first two are the secret itself, and reversed.
func spellings(secret string) []spelling {
	reversed := []byte(secret)
	slices.Reverse(reversed)
	prefixed, decimal, decimalOf := []byte{}, []byte{}, []int{}
	for i := range len(secret) {
		prefixed = append(append(prefixed, "0x"...), hex.EncodeToString([]byte{secret[i]})...)
		decimal = strconv.AppendUint(decimal, uint64(secret[i]), 10)
		for len(decimalOf) < len(decimal) {
			decimalOf = append(decimalOf, i)
		}
	}
	n := len(secret)
	all := []spelling{
		{text: []byte(secret), byteOf: func(i int) int { return i }, size: n},
		{text: reversed, byteOf: func(i int) int { return i }, size: n},
		{text: []byte(hex.EncodeToString([]byte(secret))), byteOf: func(i int) int { return i / 2 }, size: n},
		{text: prefixed, byteOf: func(i int) int { return i / 4 }, size: n},
		{text: decimal, byteOf: func(i int) int { return decimalOf[i] }, size: n},
	}
	for shift := range 3 {
		all = append(all, inBase64(secret, shift))
	}
	return all
}

// inBase64 encodes a secret behind shift other bytes. It omits the characters that depend on the bytes
// before and after.
func inBase64(secret string, shift int) spelling {
	text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), secret...))
	first, end := (8*shift+5)/6, 8*(shift+len(secret))/6
	return spelling{
		text: []byte(text[first:end]), size: len(secret),
		byteOf: func(i int) int { return (i+first)*6/8 - shift },
	}
}

// form is a spelling as a sequence of codes. byteOf has the byte of the secret for each code.
type form struct {
	codes     []byte
	byteOf    []uint16
	size, run int
}

func (s spelling) form(table *[256]byte) *form {
	f := &form{
		codes: make([]byte, 0, len(s.text)), byteOf: make([]uint16, 0, len(s.text)), size: s.size, run: s.run,
	}
	for i, c := range s.text {
		if code := table[c]; code != 0 {
			f.codes, f.byteOf = append(f.codes, code), append(f.byteOf, uint16(s.byteOf(i)))
		}
	}
	return f
}

// covers reports whether codes from to to-1 spell at least run bytes of the secret. It includes
// adjacent bytes that have no code.
func (f *form) covers(from, to int) bool {
	first, end := 0, f.size
	if from > 0 {
		first = int(f.byteOf[from-1]) + 1
	}
	if to < len(f.codes) {
		end = int(f.byteOf[to])
	}
	return end-first >= f.run
}

// index finds forms by their seeds: windows of seedLength codes, at places such that every stretch
// that covers a run contains one.
type index struct {
	filter bloom
	seeds  map[uint64]int32 // index in refs of the latest ref with the seed
	refs   []ref
}

// ref is the place of a seed in a form.
type ref struct {
	form *form
	at   uint16
	next int32 // the ref with the same seed that was added before; -1 for none
}

// add adds the seeds of a form. It returns true if a stretch is too short for a seed.
func (x *index) add(f *form) (weak bool) {
	if x.seeds == nil {
		x.seeds, x.filter = map[uint64]int32{}, make(bloom, filterWords)
	}
	last, to := -1, 0
	for from := range f.codes {
		for to < len(f.codes) && !f.covers(from, to) {
			to++
		}
		switch {
		case !f.covers(from, to):
			return weak
		case to-from < seedLength:
			weak = true
		case last < from:
			last = to - seedLength
			x.addSeed(f, last)
		}
	}
	return weak || last < 0
}

func (x *index) addSeed(f *form, at int) {
	seed := uint64(0)
	for _, c := range f.codes[at : at+seedLength] {
		seed = seed<<7 | uint64(c)
	}
	next, ok := x.seeds[seed]
	if !ok {
		next = -1
	}
	x.seeds[seed] = int32(len(x.refs))
	x.refs = append(x.refs, ref{f, uint16(at), next})
	x.filter.add(seed)
}

// bloom is a Bloom filter of numbers.
type bloom []uint64

func bitOf(n uint64) uint64 { return n * 0x9e3779b97f4a7c15 >> 46 }

func (b bloom) add(n uint64) {
	bit := bitOf(n)
	b[bit/64] |= 1 << (bit % 64)
}

func (b bloom) mayHave(n uint64) bool {
	bit := bitOf(n)
	return b[bit/64]&(1<<(bit%64)) != 0
}

// match returns the stretch around codes[end-seedLength:end], behind begin, that covers a run of a
// secret; to is 0 if there is none.
func (x *index) match(seed uint64, codes []byte, begin, end int, budget *int) (from, to int) {
	at, ok := x.seeds[seed]
	for ; ok && at >= 0 && *budget >= 0; at = x.refs[at].next {
		r := x.refs[at]
		first, last := int(r.at), int(r.at)+seedLength
		from, to = end-seedLength, end
		for first > 0 && from > begin && codes[from-1] == r.form.codes[first-1] {
			first, from = first-1, from-1
		}
		for last < len(r.form.codes) && to < len(codes) && codes[to] == r.form.codes[last] {
			last, to = last+1, to+1
		}
		if r.form.covers(first, last) {
			return from, to
		}
		*budget -= 1 + last - first
	}
	return 0, 0
}
