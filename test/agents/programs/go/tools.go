package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"
)

var (
	address = os.Getenv("IL_ADDRESS")
	key     = os.Getenv("IL_KEY")
	model   = os.Getenv("IL_MODEL")
	prompt  = os.Getenv("IL_PROMPT")
	// thinking is how Claude is asked to think, as JSON.
	thinking = json.RawMessage(os.Getenv("IL_THINKING"))
)

// steps is more than any session here takes.
const steps = 8

var errSteps = errors.New("the session does not end")

type tool struct {
	name, description string
	parameters        []string
	run               func(given map[string]string) (string, error)
}

var tools = []tool{
	{"read_file", "Read a file.", []string{"path"}, func(given map[string]string) (string, error) {
		bytes, err := os.ReadFile(given["path"])
		return string(bytes), err
	}},
	{"write_file", "Write a file.", []string{"path", "content"}, func(given map[string]string) (string, error) {
		content := given["content"]
		err := os.WriteFile(given["path"], []byte(content), 0o644)
		return fmt.Sprintf("wrote %d characters", utf8.RuneCountInString(content)), err
	}},
}

func (one tool) properties() map[string]any {
	properties := map[string]any{}
	for _, name := range one.parameters {
		properties[name] = map[string]any{"type": "string"}
	}
	return properties
}

// schema is the JSON Schema of the arguments.
func (one tool) schema() map[string]any {
	return map[string]any{
		"type": "object", "properties": one.properties(), "required": one.parameters, "additionalProperties": false,
	}
}

// call runs a tool; arguments are JSON.
func call(name string, arguments []byte) (string, error) {
	var given map[string]string
	if err := json.Unmarshal(arguments, &given); err != nil {
		return "", fmt.Errorf("arguments of %s: %w", name, err)
	}
	for _, one := range tools {
		if one.name == name {
			return one.run(given)
		}
	}
	return "", fmt.Errorf("no tool %s", name)
}
