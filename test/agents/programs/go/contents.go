package main

import (
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/genai"
)

type contents struct{ key string }

func newContents(key string) client { return contents{key} }

func (c contents) client() (*genai.Client, error) {
	return genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: c.key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: address},
	})
}

// The first part of an answer to somebody who did not ask for thoughts is its text.
func (c contents) whole() (string, error) {
	client, err := c.client()
	if err != nil {
		return "", err
	}
	answer, err := client.Models.GenerateContent(context.Background(), model, genai.Text(prompt), nil)
	if err != nil {
		return "", err
	}
	return answer.Candidates[0].Content.Parts[0].Text, nil
}

func (c contents) streamed() (string, error) {
	client, err := c.client()
	if err != nil {
		return "", err
	}
	text := ""
	for chunk, err := range client.Models.GenerateContentStream(context.Background(), model, genai.Text(prompt), nil) {
		if err != nil {
			return "", err
		}
		for _, part := range chunk.Candidates[0].Content.Parts {
			text += part.Text
		}
	}
	return text, nil
}

// Every chunk of an answer becomes a turn of its own in the history of a chat.
func (c contents) session() (string, error) {
	client, err := c.client()
	if err != nil {
		return "", err
	}
	declared := genai.Tool{}
	for _, one := range tools {
		declared.FunctionDeclarations = append(declared.FunctionDeclarations, &genai.FunctionDeclaration{
			Name: one.name, Description: one.description, ParametersJsonSchema: one.schema(),
		})
	}
	chat, err := client.Chats.Create(context.Background(), model, &genai.GenerateContentConfig{
		Tools: []*genai.Tool{&declared}, ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
	}, nil)
	if err != nil {
		return "", err
	}
	message := []*genai.Part{{Text: prompt}}
	for range steps {
		text := ""
		var results []*genai.Part
		for chunk, err := range chat.SendStream(context.Background(), message...) {
			if err != nil {
				return "", err
			}
			for _, one := range chunk.FunctionCalls() {
				arguments, err := json.Marshal(one.Args)
				if err != nil {
					return "", err
				}
				output, err := call(one.Name, arguments)
				if err != nil {
					return "", err
				}
				results = append(results, &genai.Part{FunctionResponse: &genai.FunctionResponse{
					ID: one.ID, Name: one.Name, Response: map[string]any{"output": output},
				}})
			}
			text += chunk.Text()
		}
		if len(results) == 0 {
			return text, nil
		}
		message = results
	}
	return "", errSteps
}

func (c contents) status(err error) int {
	var refused genai.APIError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}
