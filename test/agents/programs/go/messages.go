package main

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

type messages struct{ client anthropic.Client }

func newMessages(key string) client {
	return messages{anthropic.NewClient(option.WithBaseURL(address), option.WithAPIKey(key), option.WithMaxRetries(0))}
}

func (c messages) params() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     model,
		MaxTokens: 8000,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
	}
}

// The first block of an answer to somebody who did not ask for reasoning is its text.
func (c messages) whole() (string, error) {
	message, err := c.client.Messages.New(context.Background(), c.params())
	if err != nil {
		return "", err
	}
	return message.Content[0].Text, nil
}

func (c messages) stream(params anthropic.MessageNewParams) (anthropic.Message, error) {
	stream := c.client.Messages.NewStreaming(context.Background(), params)
	defer stream.Close()
	message := anthropic.Message{}
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return message, err
		}
	}
	if stream.Err() != nil || message.StopReason == "" {
		return message, errors.Join(stream.Err(), errors.New("no whole answer"))
	}
	return message, nil
}

// And so is the last one.
func (c messages) streamed() (string, error) {
	message, err := c.stream(c.params())
	if err != nil {
		return "", err
	}
	return message.Content[len(message.Content)-1].Text, nil
}

func (c messages) session() (string, error) {
	params := c.params()
	params.Thinking = param.Override[anthropic.ThinkingConfigParamUnion](thinking)
	for _, one := range tools {
		params.Tools = append(params.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name:        one.name,
			Description: anthropic.String(one.description),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: one.properties(), Required: one.parameters},
		}})
	}
	for range steps {
		message, err := c.stream(params)
		if err != nil {
			return "", err
		}
		var results []anthropic.ContentBlockParamUnion
		text := ""
		for _, block := range message.Content {
			switch one := block.AsAny().(type) {
			case anthropic.TextBlock:
				text += one.Text
			case anthropic.ToolUseBlock:
				output, err := call(one.Name, one.Input)
				if err != nil {
					return "", err
				}
				results = append(results, anthropic.NewToolResultBlock(one.ID, output, false))
			}
		}
		if len(results) == 0 {
			return text, nil
		}
		params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
	return "", errSteps
}

func (c messages) status(err error) int {
	var refused *anthropic.Error
	if errors.As(err, &refused) {
		return refused.StatusCode
	}
	return 0
}
