package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/api"
	"synthetic/internal/redact"
)

const (
	// askTimeout bounds one answer of a few tokens.
	askTimeout = 30 * time.Second
	// maxCanaryBytes bounds one answer; the alternatives of 256 tokens take about 200,000 bytes.
	maxCanaryBytes = 1 << 20
	// alternatives is the number of requested alternatives to each token. OpenAI and some other
	// servers reject more than five.
	alternatives = 5
)

// Asker sends canary prompts to a target's chat completions API (see target.Chat) at temperature
// 0. Its requests are not timed and appear in no metric of turns. It is safe for concurrent
// use. The caller must Close it.
type Asker struct {
	options Options
	chat    *untimedClient
	learned *Learned
}

// NewAsker returns an Asker. It uses Target, Dial, Connections, Pacer, Learned and Sent of the options.
func NewAsker(o Options) *Asker {
	return &Asker{options: o, chat: newUntimedClient(o.Target.Chat(), "canary", o, ForCanary), learned: cmp.Or(o.Learned, &Learned{})}
}

// Close closes idle connections.
func (a *Asker) Close() { a.chat.close() }

// Model returns the configured model, or the first one that the target lists.
func (a *Asker) Model(ctx context.Context) (string, error) {
	if a.options.Target.Model != "" {
		return a.options.Target.Model, nil
	}
	client := newUntimedClient(a.options.Target, "canary", a.options, ForModels)
	defer client.close()
	return discoverModel(ctx, client)
}

// CanaryRound is the result of Asker.Round.
type CanaryRound struct {
	answers.Round
	// Fingerprint is the last system_fingerprint of the server.
	Fingerprint string
	// Tokens is the number of prompt and output tokens that the round used.
	Tokens int
}

// Round sends all prompts, with maxTokens as the limit of each answer: either at once, or one
// after the other until one fails.
func (a *Asker) Round(ctx context.Context, model string, prompts []string, maxTokens int, atOnce bool) (CanaryRound, error) {
	all := CanaryRound{Round: make(answers.Round, len(prompts))}
	errs := make([]error, len(prompts))
	var mu sync.Mutex
	ask := func(i int) {
		answer, c, err := a.ask(ctx, model, prompts[i], maxTokens)
		all.Round[i], errs[i] = answer, err
		mu.Lock()
		defer mu.Unlock()
		all.Fingerprint = redact.Text(c.Fingerprint)
		all.Tokens += newLimits(maxTokens, len(prompts[i])).spent(c.Usage, len(answer.Text))
	}
	var asking sync.WaitGroup
	for i := range prompts {
		if atOnce {
			asking.Go(func() { ask(i) })
		} else if ask(i); errs[i] != nil {
			break
		}
	}
	asking.Wait()
	return all, errors.Join(errs...)
}

// ask sends one prompt. If the server rejects log-probabilities, it asks again without them. The
// target's extra fields are part of how its model is used; the fields of a canary have priority.
func (a *Asker) ask(ctx context.Context, model, prompt string, maxTokens int) (answers.CanaryAnswer, completion, error) {
	fields := map[string]any{}
	maps.Copy(fields, a.options.Target.Extra)
	maps.Copy(fields, map[string]any{
		"model": model, "temperature": 0, "stream": false, "messages": []openai.ChatCompletionMessage{{Role: "user", Content: prompt}},
		"logprobs": true, "top_logprobs": alternatives,
	})
	c, status, err := a.send(ctx, model, fields, maxTokens)
	if rejectsBody(status) {
		delete(fields, "logprobs")
		delete(fields, "top_logprobs")
		c, _, err = a.send(ctx, model, fields, maxTokens)
	}
	if err = cmp.Or(err, c.check()); err != nil {
		return answers.CanaryAnswer{}, c, fmt.Errorf("asking %q: %w", a.options.Target.BaseURL, err)
	}
	return canaryAnswer(c.Choices[0]), c, nil
}

// send sends a request, and again if the server wants another name for the token limit.
func (a *Asker) send(ctx context.Context, model string, fields map[string]any, maxTokens int) (c completion, status int, err error) {
	path := api.ChatPath(&a.chat.target, model)
	for again := true; again; {
		limit := a.learned.limitField()
		body := maps.Clone(fields)
		body[string(limit)] = maxTokens
		askCtx, cancel := context.WithTimeout(ctx, askTimeout)
		status, err = a.chat.do(askCtx, path, body, &c, maxCanaryBytes)
		cancel()
		if err == nil {
			break
		}
		again, _ = a.learned.learn(&a.chat.target, limit, status, err.Error())
	}
	return c, status, err
}

func canaryAnswer(c choice) answers.CanaryAnswer {
	a := answers.CanaryAnswer{Text: redact.Text(cmp.Or(c.Message.ReasoningContent, c.Message.Reasoning) + c.Message.Content)}
	for _, t := range c.Logprobs.Content {
		token := answers.Token{Text: redact.Text(t.Token), Logprob: t.LogProb}
		for _, o := range t.TopLogProbs {
			token.Others = append(token.Others, answers.Token{Text: redact.Text(o.Token), Logprob: o.LogProb})
		}
		a.Tokens = append(a.Tokens, token)
	}
	return a
}
