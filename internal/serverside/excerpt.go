package serverside

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Limits on a page of metrics. Unknown families are read, but not kept.
const (
	// maxPage bounds the bytes of a page.
	maxPage = 4 << 20
	// maxLine bounds the bytes of a line. Longer lines are skipped.
	maxLine = 64 << 10
	// maxKept bounds the bytes of known families.
	maxKept = 1 << 20
	// leaveOut is the remedy for a page that exceeds a limit.
	leaveOut = "configure the server to export less, or remove the page from server_metrics"
)

var (
	errNoPage    = errors.New("the answer is not in the Prometheus text format; check the address")
	errLargePage = fmt.Errorf("the page is larger than %d MiB; %s", maxPage>>20, leaveOut)
	errMuchKept  = fmt.Errorf("the known families take more than %d MiB; %s", maxKept>>20, leaveOut)
)

// readFamilies reads a page line by line, until ctx ends, and parses the known families. It skips
// other lines than series, but not before the first one. The error repeats no text of the server.
func readFamilies(ctx context.Context, page io.Reader) (map[string]*dto.MetricFamily, error) {
	var kept bytes.Buffer
	known, started := knownSeries(), false
	limited := &io.LimitedReader{R: page, N: maxPage + 1}
	r := bufio.NewReaderSize(limited, maxLine)
	for {
		line, err := nextLine(r)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case limited.N == 0:
			return nil, errLargePage
		case err != nil && err != io.EOF:
			return nil, err
		}
		name, ok := seriesName(line)
		if started = started || name != nil; !ok && !started {
			return nil, errNoPage
		}
		if known[string(name)] {
			kept.Write(line)
			if kept.Len() > maxKept {
				return nil, errMuchKept
			}
		}
		if err == io.EOF {
			return parse(&kept)
		}
	}
}

// parse parses the lines of known families.
func parse(kept *bytes.Buffer) (map[string]*dto.MetricFamily, error) {
	kept.WriteByte('\n') // the last line may not end with one
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(kept)
	if err != nil {
		return nil, errors.New("a known family is not in the Prometheus text format")
	}
	return families, nil
}

// nextLine returns the next line, which is valid until the next call. A line that is too long is
// returned empty.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return nil, err
}

// knownSeries holds the series names of known families, including those of histograms.
func knownSeries() map[string]bool {
	known := map[string]bool{}
	for _, f := range families() {
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			known[f.name+suffix] = true
		}
	}
	return known
}

// seriesName returns the metric name of a series or TYPE line, and "" for other comments. ok is
// false for a line that is not in the text format.
func seriesName(line []byte) (name []byte, ok bool) {
	line = bytes.TrimSpace(line)
	typed, isType := bytes.CutPrefix(line, []byte("# TYPE "))
	switch {
	case isType:
		line = bytes.TrimLeft(typed, " \t")
	case len(line) == 0 || line[0] == '#' || line[0] == '{': // known names are not quoted
		return nil, true
	}
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 || !model.LegacyValidation.IsValidMetricName(string(line[:end])) {
		return nil, false
	}
	return line[:end], true
}
