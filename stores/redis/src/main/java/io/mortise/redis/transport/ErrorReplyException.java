package io.mortise.redis.transport;

import io.mortise.internal.runtime.FailureText;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The server answered a command with an error. */
public final class ErrorReplyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private static final Pattern COMMAND =
      Pattern.compile(
          "(?i)(?:unknown|unsupported) command [`'\"]?([\\w.|]{1,40})|permissions to run the '([\\w.|]{1,40})' command");

  /**
   * Takes the text that the server sent, as {@link FailureText#quoted} shows it.
   *
   * @param text begins with a code in capital letters, as a rule
   */
  public ErrorReplyException(String text) {
    // Without a stack trace: the reading thread's stack tells nothing.
    super(FailureText.quoted(text), null, false, false);
  }

  /**
   * The command that the server does not know, or forbids to this user, in capital letters; null if
   * the error is about something else.
   */
  public @Nullable String refusedCommand() {
    Matcher found = COMMAND.matcher(String.valueOf(getMessage()));
    if (!found.find()) {
      return null;
    }
    String name = found.group(1) == null ? found.group(2) : found.group(1);
    return name.toUpperCase(Locale.ROOT);
  }

  /** Whether the error has this code, which is the text's first word. */
  public boolean is(String code) {
    String text = String.valueOf(getMessage());
    return text.startsWith(code)
        && (text.length() == code.length() || text.charAt(code.length()) == ' ');
  }
}
