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
	// maxKept bounds the bytes of known families. Parsed, they take up to 40 MiB.
	maxKept = 1 << 20
	// maxLabels bounds the labels of a series, because the parser compares each with all. vLLM's cache_config_info has 30.
	maxLabels = 100
	// leaveOut is the remedy for a page that exceeds a limit.
	leaveOut = "configure the server to export less, or remove the page from server_metrics"
)

// Errors of pages. They repeat no text of the server.
var (
	errNoPage    = errors.New("the answer is not in the Prometheus text format; check the address")
	errLargePage = fmt.Errorf("the page is larger than %d MiB; %s", maxPage>>20, leaveOut)
	errLongLine  = fmt.Errorf("a line is longer than %d KiB; %s", bufio.MaxScanTokenSize>>10, leaveOut)
	errMuchKept  = fmt.Errorf("the known families take more than %d MiB; %s", maxKept>>20, leaveOut)
	errLabels    = fmt.Errorf("a known series has more than %d labels; %s", maxLabels, leaveOut)
	errParse     = errors.New("a known family is not in the Prometheus text format, or has two TYPE lines; check the exporter, or remove the page from server_metrics")
)

// readPage reads a page line by line, until ctx ends, and parses the lines of known families. It skips other
// lines than series, but not before the first one.
func readPage(ctx context.Context, page io.Reader) (map[string]*dto.MetricFamily, error) {
	known, started := knownSeries(), false
	limited := &io.LimitedReader{R: page, N: maxPage + 1}
	lines := bufio.NewScanner(limited)
	var kept bytes.Buffer
	for ctx.Err() == nil && lines.Scan() {
		name, ok := seriesName(lines.Bytes())
		if started = started || name != nil; !ok && !started {
			return nil, errNoPage
		}
		if !known[string(name)] {
			continue
		}
		kept.Write(lines.Bytes())
		kept.WriteByte('\n')
		switch {
		case kept.Len() > maxKept:
			return nil, errMuchKept
		case bytes.Count(lines.Bytes(), []byte("=")) > maxLabels:
			return nil, errLabels
		}
	}
	switch err := lines.Err(); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errLongLine
	case limited.N == 0:
		return nil, errLargePage
	case err != nil:
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return nil, errParse
	}
	return found, nil
}

// knownSeries has the series names of known families, including those of histograms.
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
