package io.mortise.redis.transport;

/** The server answered a command with an error. */
public final class ErrorReplyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Takes the text as the server sent it.
   *
   * @param text begins with a code in capital letters, as a rule
   */
  public ErrorReplyException(String text) {
    // Thrown to nobody's stack: where it was read says nothing.
    super(text, null, false, false);
  }

  /** Whether the error has this code, which is the text's first word. */
  public boolean is(String code) {
    String text = String.valueOf(getMessage());
    return text.startsWith(code)
        && (text.length() == code.length() || text.charAt(code.length()) == ' ');
  }
}
