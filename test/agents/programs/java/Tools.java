import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Two tools on files. */
enum Tools {
  READ("read_file", "Read a file.", "path") {
    @Override
    String run(Map<String, String> given) throws IOException {
      return Files.readString(Path.of(given.get("path")));
    }
  },
  WRITE("write_file", "Write a file.", "path", "content") {
    @Override
    String run(Map<String, String> given) throws IOException {
      String content = given.get("content");
      Files.writeString(Path.of(given.get("path")), content);
      return "wrote " + content.codePointCount(0, content.length()) + " characters";
    }
  };

  private static final ObjectMapper JSON = new ObjectMapper();

  final String title;
  final String description;
  final List<String> parameters;

  Tools(String title, String description, String... parameters) {
    this.title = title;
    this.description = description;
    this.parameters = List.of(parameters);
  }

  abstract String run(Map<String, String> given) throws IOException;

  Map<String, Object> properties() {
    Map<String, Object> properties = new LinkedHashMap<>();
    for (String name : parameters) properties.put(name, Map.of("type", "string"));
    return properties;
  }

  /** The JSON Schema of the arguments. */
  Map<String, Object> schema() {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    schema.put("properties", properties());
    schema.put("required", parameters);
    schema.put("additionalProperties", false);
    return schema;
  }

  /** Runs a tool; arguments are JSON. */
  static String call(String title, String arguments) {
    return call(title, parsed(arguments));
  }

  static String call(String title, Map<String, ?> arguments) {
    Map<String, String> given = new LinkedHashMap<>();
    arguments.forEach((name, value) -> given.put(name, (String) value));
    for (Tools tool : values())
      if (tool.title.equals(title)) {
        try {
          return tool.run(given);
        } catch (IOException thrown) {
          throw new UncheckedIOException(thrown);
        }
      }
    throw new IllegalArgumentException("no tool " + title);
  }

  static Map<String, Object> parsed(String json) {
    try {
      return JSON.readValue(json, new TypeReference<>() {});
    } catch (JsonProcessingException thrown) {
      throw new UncheckedIOException(thrown);
    }
  }
}
