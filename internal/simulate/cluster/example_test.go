package cluster_test

import (
	"fmt"
	"log"
	"time"

	"synthetic/internal/simulate/cluster"
)

// The example sends two turns of a conversation in virtual time. The second prompt contains the
// first turn.
func Example() {
	config, err := cluster.Preset("phase0")
	if err != nil {
		log.Fatal(err)
	}
	c := cluster.New(config)
	// The running hashes of the blocks of 16 tokens.
	var chain []uint64
	for i := range 300 {
		chain = append(chain, uint64(i+1))
	}
	ask := func(id uint64, prompt, output int) {
		r := cluster.Request{ID: id, Prompt: prompt, Output: output, Chain: chain[:(prompt+output)/16]}
		if err := c.Submit(c.Now(), r); err != nil {
			log.Fatal(err)
		}
		began, first := c.Now(), true
		for at, ok := c.Next(); ok && c.InFlight() > 0; at, ok = c.Next() {
			c.Advance(at, func(e cluster.Event) {
				if first {
					fmt.Printf("%d of %d prompt tokens cached, slow start: %v\n", e.Cached, prompt, e.At-began > 300*time.Millisecond)
					first = false
				}
				if e.Kind != cluster.Tokens {
					fmt.Println(e.Kind)
				}
			})
		}
	}
	ask(1, 4000, 500)
	ask(2, 4600, 20)
	// Output:
	// 0 of 4000 prompt tokens cached, slow start: true
	// done
	// 4496 of 4600 prompt tokens cached, slow start: false
	// done
}
