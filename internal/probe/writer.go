package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/probe/workload"
)

const (
	// userTimeout bounds one message of the user endpoint.
	userTimeout = 60 * time.Second
	// userTokens limits the length of such a message.
	userTokens = 120
	userPrompt = "You play the user of a chat assistant. Read the conversation, in which you wrote the messages of the role assistant, and write the user's next question about it. Write the question alone."
)

// writer asks a second model for the user's next message.
type writer struct {
	target target.Target
	auth   *target.Authorizer
	client *wire.Client

	mu    sync.Mutex
	model string // once discovered
}

func newWriter(o Options) *writer {
	t := *o.User
	return &writer{target: t, auth: target.NewAuthorizer(t, o.Workload.Name), client: newClient(t, o), model: t.Model}
}

func (w *writer) close() {
	w.auth.Close()
	w.client.CloseIdleConnections()
}

// next returns the user's next message after the history.
func (w *writer) next(ctx context.Context, history []workload.Message) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, userTimeout)
	defer cancel()
	model, err := w.modelName(ctx)
	if err != nil {
		return "", err
	}
	api, scrub, err := newAPI(ctx, w.target.BaseURL, w.auth, w.client, maxUserReply)
	if err != nil {
		return "", err
	}
	resp, err := api.CreateChatCompletion(ctx, openai.ChatCompletionRequest{
		Model: model, Messages: swapRoles(history),
		//lint:ignore SA1019 every server knows max_tokens, its successor only some
		MaxTokens: userTokens,
	})
	if err != nil {
		return "", fmt.Errorf("asking the user endpoint %q: %s", w.target.BaseURL, scrub.clean(err.Error()))
	}
	if len(resp.Choices) == 0 || resp.Choices[0].Message.Content == "" {
		return "", errors.New("the user endpoint gave an empty message")
	}
	return clip(resp.Choices[0].Message.Content, maxUserText), nil
}

func (w *writer) modelName(ctx context.Context) (string, error) {
	w.mu.Lock()
	model := w.model
	w.mu.Unlock()
	if model != "" {
		return model, nil
	}
	model, err := discoverModel(ctx, w.target, w.auth, w.client)
	if err == nil {
		w.mu.Lock()
		w.model = model
		w.mu.Unlock()
	}
	return model, err
}

// swapRoles turns the history around, as the model that plays the user sees
// it: its own messages are the assistant's.
func swapRoles(history []workload.Message) []openai.ChatCompletionMessage {
	out := []openai.ChatCompletionMessage{{Role: "system", Content: userPrompt}}
	for _, m := range history {
		switch m.Role {
		case "user":
			out = append(out, openai.ChatCompletionMessage{Role: "assistant", Content: m.Content})
		case "assistant":
			if m.Content == "" {
				continue // it called a tool, which the user does not see
			}
			out = append(out, openai.ChatCompletionMessage{Role: "user", Content: m.Content})
		}
	}
	return out
}
