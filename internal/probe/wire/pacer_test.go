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

// greedy spends as much as the pacer lets so many readers for so long.
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
				time.Sleep(cost) // what is spent takes its time
			}
		})
	}
	all.Wait()
	return spent
}

// TestPacerHoldsToTheShare: however many connections a target spends on, it gets
// its share and its burst, not more.
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
				most := share + paceBurst + time.Duration(tc.readers)*tc.cost
				if spent > most || spent < share*9/10 {
					t.Errorf("%v spent in %v, want at most %v", spent, period, most)
				}
				if p.Waited() <= 0 {
					t.Error("nobody waited")
				}
			})
		})
	}
}

// TestPacerLetsLegitimateLoadPass: 32 conversations that begin together over
// TLS, and stream 100 tokens/s each, each in a read of its own, never wait.
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
			t.Error("no pacer delays")
		}
	})
}

// TestPacedReads holds that whatever a peer sends is paid for, the headers with
// all the rest, and what it makes this process compute. In virtual time nothing
// but the pacer takes any.
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
				exchanged(t, client, "http://paced.test") // pays what the first still owes
				least := time.Duration(float64(dialCost+costOfBytes(tc.bytes)) / paceShare)
				if waited := pacer.Waited() + settle; waited < least { // which the client waits by itself
					t.Errorf("waited for %v, want at least %v", waited, least)
				}
			})
		})
	}
}

// late is a connection whose bytes arrived at a time and are read now.
type late struct {
	stamped
	at time.Time
}

func (l *late) Read([]byte) (int, error) { return 1, nil }

func (l *late) arrival() stream.Arrival { return stream.Arrival{At: l.at, Seen: time.Now()} }

// TestPacingIsNoLateness: bytes that waited for the pacer were not looked at too
// late, but for what this process was late by itself.
func TestPacingIsNoLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pacer := &Pacer{}
		arrived := time.Now()
		g := guard(&late{at: arrived}, pacer, func() {})
		time.Sleep(time.Second)
		pacer.spend(paceBurst + 40*time.Millisecond) // which takes 200 ms to pay
		if _, err := g.Read(nil); err != nil || pacer.Waited() != 200*time.Millisecond {
			t.Fatalf("waited %v: %v", pacer.Waited(), err)
		}
		if lag := g.arrival().Seen.Sub(arrived); lag != time.Second {
			t.Errorf("seen %v after it arrived, want 1s", lag)
		}
	})
}
