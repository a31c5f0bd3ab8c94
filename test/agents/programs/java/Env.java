/** What the program is told. */
final class Env {
  static final String ADDRESS = System.getenv("IL_ADDRESS");
  static final String KEY = System.getenv("IL_KEY");
  static final String MODEL = System.getenv("IL_MODEL");
  static final String PROMPT = System.getenv("IL_PROMPT");
  static final String SCENARIO = System.getenv("IL_SCENARIO");
  /** How Claude is asked to think, as JSON. */
  static final String THINKING = System.getenv("IL_THINKING");

  private Env() {}
}
