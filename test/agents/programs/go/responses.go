package main

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

type responsesClient struct{ client openai.Client }

func newResponses(key string) client { return responsesClient{openaiClient(key)} }

func (c responsesClient) params(items responses.ResponseInputParam) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items},
		Store: openai.Bool(false),
	}
}

func question() responses.ResponseInputParam {
	return responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(prompt, responses.EasyInputMessageRoleUser),
	}
}

func (c responsesClient) whole() (string, error) {
	answer, err := c.client.Responses.New(context.Background(), c.params(question()))
	if err != nil {
		return "", err
	}
	return answer.OutputText(), nil
}

func (c responsesClient) stream(params responses.ResponseNewParams) (responses.Response, error) {
	stream := c.client.Responses.NewStreaming(context.Background(), params)
	defer stream.Close()
	for stream.Next() {
		if event, ok := stream.Current().AsAny().(responses.ResponseCompletedEvent); ok {
			return event.Response, nil
		}
	}
	return responses.Response{}, errors.Join(stream.Err(), errors.New("no whole answer"))
}

func (c responsesClient) streamed() (string, error) {
	answer, err := c.stream(c.params(question()))
	return answer.OutputText(), err
}

func (c responsesClient) session() (string, error) {
	items := question()
	for range steps {
		params := c.params(items)
		params.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
		params.Reasoning = shared.ReasoningParam{
			Effort: shared.ReasoningEffortMedium, Summary: shared.ReasoningSummaryAuto,
		}
		for _, one := range tools {
			params.Tools = append(params.Tools, responses.ToolParamOfFunction(one.name, one.schema(), true))
		}
		answer, err := c.stream(params)
		if err != nil {
			return "", err
		}
		done := true
		var outputs responses.ResponseInputParam
		for _, item := range answer.Output {
			switch one := item.AsAny().(type) {
			case responses.ResponseReasoningItem:
				reasoning := one.ToParam()
				items = append(items, responses.ResponseInputItemUnionParam{OfReasoning: &reasoning})
			case responses.ResponseOutputMessage:
				message := one.ToParam()
				items = append(items, responses.ResponseInputItemUnionParam{OfOutputMessage: &message})
			case responses.ResponseFunctionToolCall:
				done = false
				made := one.ToParam()
				items = append(items, responses.ResponseInputItemUnionParam{OfFunctionCall: &made})
				output, err := call(one.Name, []byte(one.Arguments))
				if err != nil {
					return "", err
				}
				result := responses.ResponseInputItemParamOfFunctionCallOutput(output)
				result.OfFunctionCallOutput.CallID = openai.String(one.CallID)
				outputs = append(outputs, result)
			}
		}
		if done {
			return answer.OutputText(), nil
		}
		items = append(items, outputs...)
	}
	return "", errSteps
}

func (c responsesClient) status(err error) int { return openaiStatus(err) }
