package io.mortise.cli.top;

import java.util.Locale;

/** What {@code mortise top} may do besides looking. */
public enum TopAction {
  CLOSE,
  BREAK,
  OPEN;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
