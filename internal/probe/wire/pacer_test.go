package wire

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe/stream"
)

// greedy runs readers that spend as much as the pacer allows for a period.
func greedy(p *Pacer, readers int, cost, period time.Duration) (spent time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(period)
	for range readers {
		all.Go(func() {
			for time.Now().Before(end) {
				p.wait(nil, end)
				if !time.Now().Before(end) {
					return
				}
				p.spend(cost)
				mu.Lock()
				spent += cost
				mu.Unlock()
				time.Sleep(cost) // CPU time takes wall-clock time
			}
		})
	}
	all.Wait()
	return spent
}

// TestPacerHoldsToTheShare checks that a target gets its share and its burst, and no more, for any
// number of connections.
func TestPacerHoldsToTheShare(t *testing.T) {
	for name, tc := range map[string]struct {
		readers int
		cost    time.Duration
	}{
		"small reads":       {1, costOfRead(1)},
		"full buffers":      {1, costOfRead(readBuffer)},
		"32 connections":    {32, costOfRead(readBuffer)},
		"nothing but dials": {32, dialCost + handshakeCost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const period = 20 * time.Second
				p := &Pacer{}
				spent := greedy(p, tc.readers, tc.cost, period)
				share := time.Duration(float64(period) * paceShare)
				limit := share + paceBurst + time.Duration(tc.readers)*tc.cost
				if spent > limit || spent < share*9/10 {
					t.Errorf("%v spent in %v, want at most %v", spent, period, limit)
				}
				if p.Waited() <= 0 {
					t.Error("nobody waited")
				}
			})
		})
	}
}

// TestPacerLetsLegitimateLoadPass checks that 32 conversations never wait if they start together
// over TLS and stream 100 tokens/s each, with one read per token.
func TestPacerLetsLegitimateLoadPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pacer{}
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				p.wait(nil, time.Time{})
				p.spend(dialCost + handshakeCost)
				for range 1000 {
					time.Sleep(10 * time.Millisecond)
					p.wait(nil, time.Time{})
					p.spend(costOfRead(300))
				}
			})
		}
		all.Wait()
		if waited := p.Waited(); waited != 0 {
			t.Errorf("they waited for %v", waited)
		}
	})
}

func TestPacerKeepsDeadlinesAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pacer{}
		p.spend(time.Hour)
		if waited := p.wait(nil, time.Now().Add(300*time.Millisecond)); waited != 300*time.Millisecond {
			t.Errorf("waited for %v with a deadline after 300ms", waited)
		}
		if waited := p.wait(nil, time.Now().Add(-time.Second)); waited != 0 {
			t.Errorf("waited for %v after the deadline", waited)
		}
		closed := make(chan struct{})
		time.AfterFunc(time.Millisecond, func() { close(closed) })
		if waited := p.wait(closed, time.Time{}); waited != time.Millisecond {
			t.Errorf("waited for %v, closed after 1ms", waited)
		}
		if waited := p.wait(nil, time.Time{}); waited != maxPause {
			t.Errorf("waited for %v, want at most %v", waited, maxPause)
		}
		var none *Pacer
		none.spend(time.Hour)
		if none.wait(nil, time.Time{}) != 0 || none.Waited() != 0 {
			t.Error("a nil pacer delays")
		}
	})
}

// TestPacedReads checks that all bytes of a peer cost something: headers, body and decompressed
// bytes. In fake time, only the pacer takes time.
func TestPacedReads(t *testing.T) {
	bare := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 10_000) + "\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000)
	bomb := zipped(strings.Repeat("x", 1_000_000))
	for name, tc := range map[string]struct {
		answer string
		bytes  int
	}{
		"headers and a body": {bare, 110_000},
		"a bomb":             {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(bomb), bomb), 1_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := pipe(t, func(far net.Conn) {
					readRequest(far)
					io.WriteString(far, tc.answer)
				})
				pacer := &Pacer{}
				client.options.Pacer = pacer
				pacer.spend(paceBurst)
				exchanged(t, client, "http://paced.test")
				exchanged(t, client, "http://paced.test") // also waits for the debt of the first
				minimum := time.Duration(float64(dialCost+costOfBytes(tc.bytes)) / paceShare)
				if waited := pacer.Waited() + settleTime; waited < minimum { // the client also waits for settleTime
					t.Errorf("waited for %v, want at least %v", waited, minimum)
				}
			})
		})
	}
}

// late is a connection whose bytes arrived at a given time and are read now.
type late struct {
	timedConn
	at time.Time
}

func (l *late) Read([]byte) (int, error) { return 1, nil }

func (l *late) arrival() stream.Arrival { return stream.Arrival{At: l.at, Seen: time.Now()} }

// TestPacingIsNoLateness checks that the read lag contains the lateness of this process, but not
// the wait for the pacer.
func TestPacingIsNoLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := &Pacer{}
		arrived := time.Now()
		paced := newPacedConn(&late{at: arrived}, pacer, func() {})
		time.Sleep(time.Second)
		pacer.spend(paceBurst + 40*time.Millisecond) // paid off in 200 ms
		if _, err := paced.Read(nil); err != nil || pacer.Waited() != 200*time.Millisecond {
			t.Fatalf("waited %v: %v", pacer.Waited(), err)
		}
		if lag := paced.arrival().Seen.Sub(arrived); lag != time.Second {
			t.Errorf("seen %v after it arrived, want 1s", lag)
		}
	})
}
