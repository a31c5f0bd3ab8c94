import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.OpenAIServiceException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import java.util.List;

/** OpenAI's SDK, chat completions. */
final class Chat implements Sessions.Client {
  private final OpenAIClient client;

  Chat(String key) {
    client = clientOf(key);
  }

  static OpenAIClient clientOf(String key) {
    return OpenAIOkHttpClient.builder().baseUrl(Env.ADDRESS + "/v1").apiKey(key).maxRetries(0).build();
  }

  private static ChatCompletionCreateParams.Builder params() {
    return ChatCompletionCreateParams.builder().model(Env.MODEL).addUserMessage(Env.PROMPT);
  }

  @Override
  public String whole() {
    return client.chat().completions().create(params().build()).choices().get(0).message().content().orElseThrow();
  }

  private ChatCompletionMessage stream(ChatCompletionCreateParams params) {
    ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> chunks = client.chat().completions().createStreaming(params)) {
      chunks.stream().forEach(accumulator::accumulate);
    }
    return accumulator.chatCompletion().choices().get(0).message();
  }

  @Override
  public String streamed() {
    return stream(params().build()).content().orElseThrow();
  }

  @Override
  public String session() {
    ChatCompletionCreateParams.Builder params = params();
    for (Tools tool : Tools.values()) params.addTool(declared(tool));
    for (int step = 0; step < Sessions.STEPS; step++) {
      ChatCompletionMessage message = stream(params.build());
      List<ChatCompletionMessageToolCall> calls = message.toolCalls().orElse(List.of());
      if (calls.isEmpty()) return message.content().orElseThrow();
      params.addMessage(message);
      for (ChatCompletionMessageToolCall call : calls) {
        ChatCompletionMessageFunctionToolCall made = call.asFunction();
        String output = Tools.call(made.function().name(), made.function().arguments());
        params.addMessage(ChatCompletionToolMessageParam.builder().toolCallId(made.id()).content(output).build());
      }
    }
    throw new IllegalStateException("the session does not end");
  }

  private static ChatCompletionFunctionTool declared(Tools tool) {
    FunctionParameters.Builder parameters = FunctionParameters.builder();
    tool.schema().forEach((name, value) -> parameters.putAdditionalProperty(name, JsonValue.from(value)));
    return ChatCompletionFunctionTool.builder()
        .function(
            FunctionDefinition.builder()
                .name(tool.title)
                .description(tool.description)
                .parameters(parameters.build())
                .build())
        .build();
  }

  @Override
  public int status(RuntimeException thrown) {
    return statusOf(thrown);
  }

  static int statusOf(RuntimeException thrown) {
    return thrown instanceof OpenAIServiceException refused ? refused.statusCode() : 0;
  }
}
