package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/api"
	"synthetic/internal/probe/target"
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

// NewAsker returns an Asker. It uses Target, Dial, Connections, Pacer and Learned of the options.
func NewAsker(o Options) *Asker {
	return &Asker{options: o, chat: newUntimedClient(o.Target.Chat(), "canary", o), learned: cmp.Or(o.Learned, &Learned{})}
}

// Close closes idle connections.
func (a *Asker) Close() { a.chat.close() }

// Model returns the configured model, or the first one that the target lists.
func (a *Asker) Model(ctx context.Context) (string, error) {
	if a.options.Target.Model != "" {
		return a.options.Target.Model, nil
	}
	client := newUntimedClient(a.options.Target, "canary", a.options)
	defer client.close()
	return discoverModel(ctx, client)
}

// Asked is a round of answers.
type Asked struct {
	answers.Round
	// Fingerprint is the last system_fingerprint of the server.
	Fingerprint string
	// Tokens is the number of prompt and output tokens that the round used.
	Tokens int
}

// Round sends all prompts, with maxTokens as the limit of each answer: either at once, or one
// after the other until one fails.
func (a *Asker) Round(ctx context.Context, model string, prompts []string, maxTokens int, atOnce bool) (Asked, error) {
	all := Asked{Round: make(answers.Round, len(prompts))}
	errs := make([]error, len(prompts))
	var mu sync.Mutex
	ask := func(i int) {
		answer, c, err := a.ask(ctx, model, prompts[i], maxTokens)
		all.Round[i], errs[i] = answer, err
		mu.Lock()
		defer mu.Unlock()
		all.Fingerprint, all.Tokens = c.Fingerprint, all.Tokens+tokens(c.Usage.TotalTokens).V
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

// ask sends one prompt. If the server rejects log-probabilities, it asks again without them.
func (a *Asker) ask(ctx context.Context, model, prompt string, maxTokens int) (answers.CanaryAnswer, completion, error) {
	logprobs := map[string]any{"logprobs": true, "top_logprobs": alternatives}
	c, status, err := a.send(ctx, model, prompt, maxTokens, logprobs)
	if rejectsBody(status) {
		c, _, err = a.send(ctx, model, prompt, maxTokens, nil)
	}
	if err = cmp.Or(err, c.check()); err != nil {
		return answers.CanaryAnswer{}, c, fmt.Errorf("asking %q: %w", a.options.Target.BaseURL, err)
	}
	return canaryAnswer(c.Choices[0]), c, nil
}

// send sends a request, and again if the server wants another name for the token limit.
func (a *Asker) send(ctx context.Context, model, prompt string, maxTokens int, extra map[string]any) (completion, int, error) {
	limit := a.learned.limitField()
	c, status, err := a.post(ctx, model, prompt, limit, maxTokens, extra)
	if err == nil {
		return c, status, nil
	}
	if again, _ := a.learned.learn(a.chat.target, limit, status, err.Error()); !again {
		return c, status, err
	}
	return a.post(ctx, model, prompt, a.learned.limitField(), maxTokens, extra)
}

// post sends one request. The target's extra fields are part of how its model is used; the
// fields of the canary have priority over them.
func (a *Asker) post(ctx context.Context, model, prompt string, limit target.LimitField, maxTokens int, extra map[string]any) (c completion, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	fields := map[string]any{}
	maps.Copy(fields, a.options.Target.Extra)
	maps.Copy(fields, extra)
	maps.Copy(fields, map[string]any{
		"model": model, "temperature": 0, "stream": false, string(limit): maxTokens,
		"messages": []chatMessage{{"user", prompt}},
	})
	status, _, err = a.chat.do(ctx, api.ChatPath(a.chat.target, model), fields, &c, maxCanaryBytes)
	return c, status, err
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func canaryAnswer(c choice) answers.CanaryAnswer {
	a := answers.CanaryAnswer{Text: cmp.Or(c.Message.ReasoningContent, c.Message.Reasoning) + c.Message.Content}
	for _, t := range c.Logprobs.Content {
		token := answers.Token{Text: t.Token, Logprob: t.Logprob}
		for _, o := range t.TopLogprobs {
			token.Others = append(token.Others, answers.Token{Text: o.Token, Logprob: o.Logprob})
		}
		a.Tokens = append(a.Tokens, token)
	}
	return a
}
