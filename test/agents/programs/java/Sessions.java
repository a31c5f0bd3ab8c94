import java.util.LinkedHashMap;
import java.util.Map;

/** The official SDKs of OpenAI, Anthropic and Google in Java: sessions with tools, plain questions, refusals. */
public final class Sessions {
  /** One SDK with one format. */
  interface Client {
    /** The text of the answer to a plain question, read as the SDK's documentation reads it. */
    String whole();

    /** The same of a streamed answer. */
    String streamed();

    /** Runs tools until the model has an answer. */
    String session();

    /** The HTTP status of an error of the SDK's own type; 0 for any other. */
    int status(RuntimeException thrown);
  }

  /** More than any session here takes. */
  static final int STEPS = 8;

  static Client client(String format, String key) {
    return switch (format) {
      case "chat" -> new Chat(key);
      case "responses" -> new Responses(key);
      case "messages" -> new Messages(key);
      case "contents" -> new Contents(key);
      default -> throw new IllegalArgumentException(format);
    };
  }

  public static void main(String[] args) {
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, thrown) -> {
          System.err.println("Error: " + thrown);
          System.exit(1);
        });
    Client made = client(args[0], Env.KEY);
    switch (Env.SCENARIO) {
      case "plain" -> {
        System.out.println("whole: " + made.whole());
        System.out.println("streamed: " + made.streamed());
      }
      case "errors" -> {
        Map<String, String> keys = new LinkedHashMap<>();
        keys.put("key", Env.KEY + "-wrong");
        keys.put("rate", Env.KEY);
        keys.forEach((name, key) -> System.out.println(name + ": " + statusOf(client(args[0], key))));
      }
      default -> System.out.println(made.session());
    }
    // Connections that wait for another request would keep the program alive.
    System.exit(0);
  }

  private static int statusOf(Client refused) {
    try {
      refused.whole();
      return 200;
    } catch (RuntimeException thrown) {
      return refused.status(thrown);
    }
  }
}
