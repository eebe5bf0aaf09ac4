package baseline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	historyDays    = 28
	historyMinutes = historyDays * 24 * 60
	// packed is the resolution of logarithms: 1/2000.
	packed = 2000
	// mostPacked bounds the turns of a minute; larger numbers add no information.
	mostPacked = math.MaxUint8
)

// history holds the minutes of four weeks: the mean logarithm of each minute, its turns, and
// its slow turns.
type history struct {
	log MinuteLog
	// first is the oldest minute that the history may hold.
	first int64
}

// put adds a minute. After the clock was set back, minutes in the future are dropped.
func (h *history) put(minute int64, turns, mean, tail float64) {
	if !(turns >= 1) {
		return
	}
	if h.last() == 0 || minute < h.first {
		*h = history{first: minute}
	}
	// A minute with many turns keeps its shares.
	scale := min(1, mostPacked/turns)
	h.log.Put(minute, uint32(int32(math.Round(min(max(mean, -mostMean), mostMean)*packed))),
		uint32(math.Round(turns*scale)), uint32(math.Round(tail*scale)))
	h.first = max(h.first, minute-historyMinutes+1)
	h.log.Forget(h.first)
}

// last returns the newest minute, or 0.
func (h *history) last() int64 { return h.log.Last() }

// mostMean bounds mean logarithms to what the encoding can hold.
const mostMean = math.MaxInt16 / packed

// each calls do for all minutes, oldest first.
func (h *history) each(do func(minute int64, turns, mean, tail float64)) { h.since(h.first, do) }

// since calls do for the minutes from first on.
func (h *history) since(first int64, do func(minute int64, turns, mean, tail float64)) {
	for m, row := range h.log.From(max(first, h.first)) {
		do(m, float64(row[1]), float64(int32(row[0]))/packed, float64(row[2]))
	}
}

// length returns the period that the history covers.
func (h *history) length() time.Duration {
	if h.last() == 0 {
		return 0
	}
	return time.Duration(h.last()-h.first+1) * time.Minute
}

// archiveVersion is the version of the encoding.
const archiveVersion = 2

// archive encodes the half hours and the minutes of a job, and the state that cannot be computed
// from them. It needs at most 230 kB a signal, and a tenth of that compressed.
func (j *job) archive() []byte {
	out := []byte{archiveVersion}
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			out = s.baseline.archive(out)
			out = s.history.archive(out)
			out = s.calendar.archive(out)
		}
		out = j.cached[k].baseline.archive(out)
	}
	return binary.AppendVarint(out, max(0, j.relearned.Unix()))
}

var errArchive = errors.New("it is cut short, or no history at all")

// restoreArchive decodes what archive returned in an earlier process. If data cannot be decoded
// it returns an error and changes nothing.
func (j *job) restoreArchive(data []byte) error {
	if len(data) == 0 || data[0] != archiveVersion {
		return fmt.Errorf("the history is not of version %d", archiveVersion)
	}
	r := reader{data: data[1:]}
	type part struct {
		baseline *baseline
		history  history
		calendar calendar
	}
	var parts [kinds][signals]part
	var hits [kinds]*baseline
	for k := range parts {
		for i := range parts[k] {
			parts[k][i] = part{r.baseline(), r.history(), r.calendar(j.series[k][i].zone)}
		}
		hits[k] = r.baseline()
	}
	relearned := r.varint()
	if r.failed || len(r.data) > 0 {
		return errArchive
	}
	for k := range parts {
		for i, p := range parts[k] {
			s := &j.series[k][i]
			s.baseline, s.history, s.limited, s.calibrated = p.baseline.in(s.zone), p.history, 0, 0
			s.calendar = p.calendar
			s.refill()
		}
		j.cached[k].baseline = hits[k].in(j.cached[k].zone)
	}
	// This history was saved before the last relearn, which discarded it.
	if at := time.Unix(relearned, 0).UTC(); j.relearned.After(at) {
		j.relearned = at
	}
	return nil
}

// refill restores the last minutes of the scan from the history.
func (s *series) refill() {
	s.scan = scan{}
	last := s.history.last()
	usual := s.past28(int32(last * 60 / int64(BlockLength/time.Second)))
	s.history.since(last-scanned+1, func(minute int64, turns, mean, tail float64) {
		if x := mean - usual(minute); !math.IsNaN(x) {
			s.scan.push(minute, turns, turns*min(max(x, -clip), clip), tail)
		}
	})
}

// archive appends the entries; none for a nil baseline.
func (b *baseline) archive(out []byte) []byte {
	if b == nil {
		return binary.AppendUvarint(out, 0)
	}
	out = binary.AppendUvarint(out, uint64(len(b.entries)))
	if len(b.entries) == 0 {
		return out
	}
	out = binary.AppendUvarint(out, uint64(b.since))
	out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(b.accepted)))
	out = binary.AppendVarint(out, b.moved.Unix())
	for _, e := range b.entries {
		out = binary.AppendUvarint(out, uint64(e.number))
		for _, v := range []float32{e.mean, e.variance, e.bad} {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
		out = binary.AppendUvarint(out, uint64(e.counted))
	}
	return out
}

// archive appends the minutes that had turns.
func (h *history) archive(out []byte) []byte {
	count, before := uint64(0), int64(0)
	var body []byte
	for minute, row := range h.log.From(h.first) {
		body = binary.AppendUvarint(body, uint64(minute-before))
		body = binary.AppendVarint(body, int64(int32(row[0])))
		body = append(body, byte(row[1]), byte(row[2]))
		count, before = count+1, minute
	}
	return append(binary.AppendUvarint(out, count), body...)
}

// archive appends what the calendar remembers.
func (c *calendar) archive(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(c.began))
	out = binary.AppendUvarint(out, uint64(len(c.rises)))
	for _, r := range c.rises {
		out = binary.AppendUvarint(out, flagged(r.From, r.Confirmed))
		out = binary.AppendUvarint(out, uint64(r.To-r.From))
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(r.Height)))
	}
	out = binary.AppendUvarint(out, uint64(len(c.pages)))
	for _, p := range c.pages {
		out = binary.AppendUvarint(out, flagged(p.Minute, p.Confirmed))
	}
	return out
}

// flagged packs a minute and a flag.
func flagged(minute int64, flag bool) uint64 {
	if flag {
		return uint64(minute)<<1 | 1
	}
	return uint64(minute) << 1
}

// reader decodes an archive. After a failure it returns zeros.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	r.skip(n)
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.data)
	r.skip(n)
	return v
}

// skip skips n bytes.
func (r *reader) skip(n int) {
	if n <= 0 || n > len(r.data) {
		r.failed, r.data = true, nil
		return
	}
	r.data = r.data[n:]
}

func (r *reader) float() float32 {
	if len(r.data) < 4 {
		r.skip(4)
		return 0
	}
	v := math.Float32frombits(binary.LittleEndian.Uint32(r.data))
	r.skip(4)
	return v
}

// count returns the number of items that follow, each of at least one byte.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.data)) {
		r.failed, r.data = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) baseline() *baseline {
	n := r.count()
	if n == 0 {
		return nil
	}
	b := &baseline{}
	b.since = int32(min(r.uvarint(), math.MaxInt32))
	b.accepted = float64(r.float())
	if moved := r.varint(); plausibleTime(moved) {
		b.moved = time.Unix(moved, 0).UTC()
	}
	newest := int32(0)
	for range n {
		e := entry{number: int32(min(r.uvarint(), math.MaxInt32)), mean: r.float(), variance: r.float(), bad: r.float()}
		e.counted = uint32(min(r.uvarint(), math.MaxUint32))
		if !r.failed && e.isPlausible() {
			b.put(e)
			newest = e.number
		}
	}
	if b.since > newest+slots || !(math.Abs(b.accepted) <= mostLog) {
		b.since, b.accepted = 0, 0
	}
	return b
}

// minute returns a minute and a flag. The minute is 0 if it is implausible.
func (r *reader) minute() (minute int64, flag bool) {
	v := r.uvarint()
	if minute = int64(v >> 1); minute > latest/60 || !plausibleTime(minute*60) {
		minute = 0
	}
	return minute, v&1 == 1
}

// calendar decodes rises in a time zone.
func (r *reader) calendar(zone *time.Location) (c calendar) {
	c.began = int64(min(r.uvarint(), latest/60))
	for range r.count() {
		from, confirmed := r.minute()
		length, height := int64(min(r.uvarint(), historyMinutes)), float64(r.float())
		if from > 0 && height >= 0 && height <= mostLog {
			c.add(rise{From: from, To: from + length, Height: height, Confirmed: confirmed}, zone)
		}
	}
	for range r.count() {
		if at, confirmed := r.minute(); at > 0 {
			c.pages = newestOf(append(c.pages, pageStart{at, confirmed}))
		}
	}
	return c
}

// in computes the derived values of a baseline in a time zone.
func (b *baseline) in(zone *time.Location) *baseline {
	if b == nil {
		return nil
	}
	b.zone, b.shaped = zone, 0
	if len(b.entries) > 0 {
		b.derive(b.entries[len(b.entries)-1].number)
	}
	return b
}

func (r *reader) history() history {
	var h history
	minute := int64(0)
	for range r.count() {
		minute += int64(min(r.uvarint(), math.MaxInt32))
		mean := r.varint()
		if len(r.data) < 2 || !plausibleTime(minute*60) {
			r.skip(2 + len(r.data))
			return h
		}
		turns, tail := float64(r.data[0]), float64(r.data[1])
		r.skip(2)
		h.put(minute, turns, float64(mean)/packed, min(tail, turns))
	}
	return h
}
