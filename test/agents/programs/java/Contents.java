import com.google.genai.Client;
import com.google.genai.ResponseStream;
import com.google.genai.errors.ApiException;
import com.google.genai.types.Content;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.FunctionDeclaration;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import com.google.genai.types.ThinkingConfig;
import com.google.genai.types.Tool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Google's SDK and its chats: every chunk of an answer becomes a turn of its own in the history. */
final class Contents implements Sessions.Client {
  private final Client client;

  Contents(String key) {
    client = Client.builder().apiKey(key).httpOptions(HttpOptions.builder().baseUrl(Env.ADDRESS).build()).build();
  }

  /** The first part of an answer to somebody who did not ask for thoughts is its text. */
  @Override
  public String whole() {
    return textOf(client.models.generateContent(Env.MODEL, Env.PROMPT, null).parts().subList(0, 1));
  }

  @Override
  public String streamed() {
    StringBuilder text = new StringBuilder();
    try (ResponseStream<GenerateContentResponse> chunks =
        client.models.generateContentStream(Env.MODEL, Env.PROMPT, null)) {
      for (GenerateContentResponse chunk : chunks) if (chunk.parts() != null) text.append(textOf(chunk.parts()));
    }
    return text.toString();
  }

  /** Whatever text parts have, thoughts among it. */
  private static String textOf(List<Part> parts) {
    StringBuilder text = new StringBuilder();
    for (Part part : parts) text.append(part.text().orElse(""));
    return text.toString();
  }

  @Override
  public String session() {
    GenerateContentConfig config =
        GenerateContentConfig.builder()
            .tools(List.of(Tool.builder().functionDeclarations(declared()).build()))
            .thinkingConfig(ThinkingConfig.builder().includeThoughts(true).build())
            .build();
    com.google.genai.Chat chat = client.chats.create(Env.MODEL, config);
    Content message = Content.fromParts(Part.fromText(Env.PROMPT));
    for (int step = 0; step < Sessions.STEPS; step++) {
      List<Part> results = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      try (ResponseStream<GenerateContentResponse> chunks = chat.sendMessageStream(message)) {
        for (GenerateContentResponse chunk : chunks) {
          if (chunk.functionCalls() != null) for (FunctionCall call : chunk.functionCalls()) results.add(resultOf(call));
          if (chunk.text() != null) text.append(chunk.text());
        }
      }
      if (results.isEmpty()) return text.toString();
      message = Content.builder().role("user").parts(results).build();
    }
    throw new IllegalStateException("the session does not end");
  }

  private static Part resultOf(FunctionCall call) {
    String name = call.name().orElseThrow();
    FunctionResponse.Builder response =
        FunctionResponse.builder()
            .name(name)
            .response(Map.of("output", Tools.call(name, call.args().orElseThrow())));
    call.id().ifPresent(response::id);
    return Part.builder().functionResponse(response.build()).build();
  }

  private static List<FunctionDeclaration> declared() {
    return Arrays.stream(Tools.values())
        .map(
            tool ->
                FunctionDeclaration.builder()
                    .name(tool.title)
                    .description(tool.description)
                    .parametersJsonSchema(tool.schema())
                    .build())
        .toList();
  }

  @Override
  public int status(RuntimeException thrown) {
    return thrown instanceof ApiException refused ? refused.code() : 0;
  }
}
