package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// carry sends a worker its part of a level, and stores the answers.
func (w *Workers) carry(ctx context.Context, x *worker, o order) {
	err := w.exchange(ctx, x, o)
	w.update(func() {
		if err != nil {
			x.lost = cmp.Or(x.lost, err.Error())
			x.refused = x.refused || errors.As(err, new(refusedError))
		}
	})
}

func (w *Workers) exchange(ctx context.Context, x *worker, o order) error {
	ctx, cut := context.WithCancel(ctx)
	from, to := io.Pipe()
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cut()
	ended, end := context.WithCancel(ctx)
	defer end()
	writing.Go(func() { _ = to.CloseWithError(w.write(ended, x, o, to)) })
	resp, err := w.call(ctx, http.MethodPost, x.url+pathLevel, from)
	if err != nil {
		return errors.Join(err, from.Close())
	}
	defer resp.Body.Close()
	defer from.Close()
	body := &answerReader{Reader: resp.Body, seen: func() { w.update(func() { x.seen = time.Now() }) }}
	var turnBytes int64
	lines := json.NewDecoder(body)
	for {
		var a answer
		body.left = maxLine
		if err := lines.Decode(&a); err != nil {
			return fmt.Errorf("the connection broke: %w", err)
		}
		if a.Lost != "" {
			return errors.New(a.Lost)
		}
		w.update(func() {
			x.ready = x.ready || a.Ready
			if a.Report != nil {
				x.report = a.Report
			}
			x.result = a.Result
		})
		if a.Result != nil {
			turnBytes = a.TurnBytes
			break
		}
	}
	end() // the worker waits for the end of the request
	rest := io.MultiReader(lines.Buffered(), body)
	if _, err := io.ReadFull(rest, make([]byte, 1)); err != nil { // the end of the line
		return fmt.Errorf("the connection broke: %w", err)
	}
	body.left = maxTurns
	if err := writeTurns(x.turns, rest, turnBytes); err != nil {
		return err
	}
	w.update(func() { x.done = true })
	return nil
}

// write writes the order and the commands until ctx ends.
func (w *Workers) write(ctx context.Context, x *worker, o order, to io.Writer) error {
	lines := json.NewEncoder(to)
	if err := lines.Encode(o); err != nil {
		return err
	}
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	var told command
	for {
		changed := w.news()
		if c := w.decided(x); c == told {
			select {
			case <-changed:
				continue
			case <-tick.C: // a sign of life
			case <-ctx.Done():
				return io.EOF // ends the request
			}
		}
		told = w.decided(x)
		if err := lines.Encode(told); err != nil {
			return err
		}
	}
}

// decided returns the command by the worker's clock.
func (w *Workers) decided(x *worker) command {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.command
	for _, t := range []*time.Time{&c.Begin, &c.End} {
		if !t.IsZero() {
			*t = t.Add(-x.offset)
		}
	}
	return c
}

// answerReader calls seen for each piece that it reads. It reads left more bytes.
type answerReader struct {
	io.Reader
	seen func()
	left int64
}

func (r *answerReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errors.New("the answer is too long")
	}
	n, err := r.Reader.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.seen()
	return n, err
}

// writeTurns writes the turns of a worker, which are size bytes, into a new file.
func writeTurns(path string, from io.Reader, size int64) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("keeping the turns of a worker: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.Copy(file, from)
	switch {
	case err != nil:
		return fmt.Errorf("reading its turns: %w", err)
	case n != size:
		return fmt.Errorf("reading its turns: %d bytes arrived, want %d", n, size)
	}
	return nil
}
