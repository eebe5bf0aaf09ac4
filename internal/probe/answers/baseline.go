package answers

import (
	"math"
	"sync"
)

// Baseline learns the usual answers of one kind of turn. The zero value is an empty baseline.
// It is safe for concurrent use.
type Baseline struct {
	mu sync.Mutex
	// learned counts the answers with a known length, unusual the consecutive answers that
	// deviate from the baseline.
	learned, unusual int
	// mean and variance describe ln(1 + tokens).
	mean, variance float64
	byScript       [scripts]int
}

const (
	// minLearned is the minimum number of answers that a deviation is judged against.
	minLearned = 50
	// memory is over how many answers the length is averaged.
	memory = 500
	// A length is unusual if it differs from the mean by a factor of lengthFactor and by
	// lengthDeviations standard deviations, because answers that end by themselves vary.
	lengthFactor, lengthDeviations = 4, 5
	// A script is unusual if fewer than 1 in scriptRarity answers use it.
	scriptRarity = 50
	// After acceptAfter consecutive unusual answers, which are some hours of the default
	// traffic, the baseline is learned again.
	acceptAfter = 1000
)

// Judge returns the defect of an answer and otherwise adds the answer to the baseline. tokens
// is 0 if unknown.
func (b *Baseline) Judge(text string, tokens int) Defect { return b.judge(inspect(text), tokens) }

func (b *Baseline) judge(f features, tokens int) Defect {
	if f.defect != "" {
		return f.defect
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	length := math.Log1p(float64(tokens))
	defect := b.deviation(f.script, tokens, length)
	if defect == "" {
		b.learn(f.script, tokens, length)
		return ""
	}
	if b.unusual++; b.unusual >= acceptAfter {
		b.learned, b.unusual, b.mean, b.variance, b.byScript = 0, 0, 0, 0, [scripts]int{}
	}
	return defect
}

func (b *Baseline) deviation(s script, tokens int, length float64) Defect {
	withScript := 0
	for _, n := range b.byScript[noScript+1:] {
		withScript += n
	}
	maxDifference := max(math.Log(lengthFactor), lengthDeviations*math.Sqrt(b.variance))
	switch {
	case s != noScript && withScript >= minLearned && b.byScript[s]*scriptRarity < withScript:
		return language
	case tokens > 0 && b.learned >= minLearned && math.Abs(length-b.mean) > maxDifference:
		return Length
	}
	return ""
}

func (b *Baseline) learn(s script, tokens int, length float64) {
	b.unusual = 0
	b.byScript[s]++
	if tokens == 0 {
		return
	}
	b.learned = min(b.learned+1, memory)
	weight, difference := 1/float64(b.learned), length-b.mean
	b.mean += weight * difference
	b.variance = (1 - weight) * (b.variance + weight*difference*difference)
}
