import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageContentParam;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.anthropic.models.messages.ToolUseBlock;
import com.fasterxml.jackson.core.type.TypeReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Anthropic's SDK. */
final class Messages implements Sessions.Client {
  private final AnthropicClient client;

  Messages(String key) {
    client = AnthropicOkHttpClient.builder().baseUrl(Env.ADDRESS).apiKey(key).maxRetries(0).build();
  }

  private static MessageCreateParams.Builder params() {
    return MessageCreateParams.builder().model(Env.MODEL).maxTokens(8000).addUserMessage(Env.PROMPT);
  }

  /** The first block of an answer to somebody who did not ask for reasoning is its text. */
  @Override
  public String whole() {
    return client.messages().create(params().build()).content().get(0).asText().text();
  }

  private Message stream(MessageCreateParams params) {
    MessageAccumulator accumulator = MessageAccumulator.create();
    try (StreamResponse<RawMessageStreamEvent> events = client.messages().createStreaming(params)) {
      events.stream().forEach(accumulator::accumulate);
    }
    return accumulator.message();
  }

  /** And so is the last one. */
  @Override
  public String streamed() {
    List<ContentBlock> content = stream(params().build()).content();
    return content.get(content.size() - 1).asText().text();
  }

  @Override
  public String session() {
    MessageCreateParams.Builder params =
        params().putAdditionalBodyProperty("thinking", JsonValue.from(Tools.parsed(Env.THINKING)));
    for (Tools tool : Tools.values()) params.addTool(declared(tool));
    for (int step = 0; step < Sessions.STEPS; step++) {
      Message message = stream(params.build());
      List<ContentBlockParam> results = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      for (ContentBlock block : message.content()) {
        block.text().ifPresent(one -> text.append(one.text()));
        block.toolUse().ifPresent(one -> results.add(ContentBlockParam.ofToolResult(resultOf(one))));
      }
      if (results.isEmpty()) return text.toString();
      params.addMessage(message).addUserMessage(MessageContentParam.ofContentBlockParams(results));
    }
    throw new IllegalStateException("the session does not end");
  }

  private static ToolResultBlockParam resultOf(ToolUseBlock call) {
    Map<String, Object> arguments = call._input().convert(new TypeReference<>() {});
    return ToolResultBlockParam.builder()
        .toolUseId(call.id())
        .content(Tools.call(call.name(), arguments))
        .build();
  }

  private static Tool declared(Tools tool) {
    Tool.InputSchema.Properties.Builder properties = Tool.InputSchema.Properties.builder();
    tool.properties().forEach((name, value) -> properties.putAdditionalProperty(name, JsonValue.from(value)));
    return Tool.builder()
        .name(tool.title)
        .description(tool.description)
        .inputSchema(Tool.InputSchema.builder().properties(properties.build()).required(tool.parameters).build())
        .build();
  }

  @Override
  public int status(RuntimeException thrown) {
    return thrown instanceof AnthropicServiceException refused ? refused.statusCode() : 0;
  }
}
