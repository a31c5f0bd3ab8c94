// The official SDKs of OpenAI, Anthropic and Google in Go: sessions with tools, plain questions, refusals.
package main

import (
	"fmt"
	"os"
	"strings"
)

// client is one SDK with one format.
type client interface {
	// whole is the text of the answer to a plain question, read as the SDK's documentation reads it.
	whole() (string, error)
	// streamed is the same of a streamed answer.
	streamed() (string, error)
	// session runs tools until the model has an answer.
	session() (string, error)
	// status is the HTTP status of an error of the SDK's own type.
	status(err error) int
}

var clients = map[string]func(key string) client{
	"chat":      newChat,
	"responses": newResponses,
	"messages":  newMessages,
	"contents":  newContents,
}

func main() {
	made := clients[os.Args[1]]
	switch os.Getenv("IL_SCENARIO") {
	case "plain":
		fmt.Println("whole: " + must(made(key).whole()))
		fmt.Println("streamed: " + must(made(key).streamed()))
	case "errors":
		for name, one := range map[string]string{"key": key + "-wrong", "rate": key} {
			refused := made(one)
			_, err := refused.whole()
			fmt.Printf("%s: %d\n", name, refused.status(err))
		}
	default:
		fmt.Println(must(made(key).session()))
	}
}

func must(text string, err error) string {
	if err != nil {
		fmt.Fprintf(os.Stderr, "Error: %s\n", strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
	return text
}
