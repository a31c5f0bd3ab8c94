import com.openai.client.OpenAIClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.Reasoning;
import com.openai.models.ReasoningEffort;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseIncludable;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseStatus;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** OpenAI's SDK, responses, without memory: what came out goes in again. */
final class Responses implements Sessions.Client {
  private final OpenAIClient client;

  Responses(String key) {
    client = Chat.clientOf(key);
  }

  private static ResponseCreateParams.Builder params(List<ResponseInputItem> items) {
    return ResponseCreateParams.builder().model(Env.MODEL).inputOfResponse(items).store(false);
  }

  private static List<ResponseInputItem> question() {
    EasyInputMessage message =
        EasyInputMessage.builder().role(EasyInputMessage.Role.USER).content(Env.PROMPT).build();
    return new ArrayList<>(List.of(ResponseInputItem.ofEasyInputMessage(message)));
  }

  private static String textOf(Response response) {
    return response.output().stream()
        .filter(ResponseOutputItem::isMessage)
        .flatMap(item -> item.asMessage().content().stream())
        .map(content -> content.asOutputText().text())
        .collect(Collectors.joining());
  }

  @Override
  public String whole() {
    return textOf(client.responses().create(params(question()).build()));
  }

  private Response stream(ResponseCreateParams params) {
    ResponseAccumulator accumulator = ResponseAccumulator.create();
    try (StreamResponse<ResponseStreamEvent> events = client.responses().createStreaming(params)) {
      events.stream().forEach(accumulator::accumulate);
    }
    Response response = accumulator.response();
    if (!response.status().equals(Optional.of(ResponseStatus.COMPLETED)))
      throw new IllegalStateException("no whole answer: " + response.error());
    return response;
  }

  @Override
  public String streamed() {
    return textOf(stream(params(question()).build()));
  }

  @Override
  public String session() {
    List<ResponseInputItem> items = question();
    for (int step = 0; step < Sessions.STEPS; step++) {
      ResponseCreateParams.Builder params =
          params(items)
              .reasoning(
                  Reasoning.builder().effort(ReasoningEffort.MEDIUM).summary(Reasoning.Summary.AUTO).build())
              .addInclude(ResponseIncludable.REASONING_ENCRYPTED_CONTENT);
      for (Tools tool : Tools.values()) params.addTool(declared(tool));
      Response response = stream(params.build());
      List<ResponseInputItem> outputs = new ArrayList<>();
      for (ResponseOutputItem item : response.output()) {
        if (item.isReasoning()) items.add(ResponseInputItem.ofReasoning(item.asReasoning()));
        if (item.isMessage()) items.add(ResponseInputItem.ofResponseOutputMessage(item.asMessage()));
        if (item.isFunctionCall()) {
          ResponseFunctionToolCall call = item.asFunctionCall();
          items.add(ResponseInputItem.ofFunctionCall(call));
          outputs.add(
              ResponseInputItem.ofFunctionCallOutput(
                  ResponseInputItem.FunctionCallOutput.builder()
                      .callId(call.callId())
                      .output(Tools.call(call.name(), call.arguments()))
                      .build()));
        }
      }
      if (outputs.isEmpty()) return textOf(response);
      items.addAll(outputs);
    }
    throw new IllegalStateException("the session does not end");
  }

  private static FunctionTool declared(Tools tool) {
    FunctionTool.Parameters.Builder parameters = FunctionTool.Parameters.builder();
    tool.schema().forEach((name, value) -> parameters.putAdditionalProperty(name, JsonValue.from(value)));
    return FunctionTool.builder()
        .name(tool.title)
        .description(tool.description)
        .parameters(parameters.build())
        .strict(true)
        .build();
  }

  @Override
  public int status(RuntimeException thrown) {
    return Chat.statusOf(thrown);
  }
}
