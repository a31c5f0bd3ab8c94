package main

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type chat struct{ client openai.Client }

func openaiClient(key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(address+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func newChat(key string) client { return chat{openaiClient(key)} }

func (c chat) params() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
	}
}

func (c chat) whole() (string, error) {
	answer, err := c.client.Chat.Completions.New(context.Background(), c.params())
	if err != nil {
		return "", err
	}
	return answer.Choices[0].Message.Content, nil
}

func (c chat) stream(params openai.ChatCompletionNewParams) (openai.ChatCompletionMessage, error) {
	stream := c.client.Chat.Completions.NewStreaming(context.Background(), params)
	defer stream.Close()
	accumulator := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		accumulator.AddChunk(stream.Current())
	}
	if stream.Err() != nil || len(accumulator.Choices) == 0 {
		return openai.ChatCompletionMessage{}, errors.Join(stream.Err(), errors.New("no whole answer"))
	}
	return accumulator.Choices[0].Message, nil
}

func (c chat) streamed() (string, error) {
	message, err := c.stream(c.params())
	return message.Content, err
}

func (c chat) session() (string, error) {
	params := c.params()
	for _, one := range tools {
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: one.name, Description: openai.String(one.description), Parameters: one.schema(),
		}))
	}
	for range steps {
		message, err := c.stream(params)
		if err != nil {
			return "", err
		}
		if len(message.ToolCalls) == 0 {
			return message.Content, nil
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, one := range message.ToolCalls {
			output, err := call(one.Function.Name, []byte(one.Function.Arguments))
			if err != nil {
				return "", err
			}
			params.Messages = append(params.Messages, openai.ToolMessage(output, one.ID))
		}
	}
	return "", errSteps
}

func (c chat) status(err error) int { return openaiStatus(err) }

func openaiStatus(err error) int {
	var refused *openai.Error
	if errors.As(err, &refused) {
		return refused.StatusCode
	}
	return 0
}
