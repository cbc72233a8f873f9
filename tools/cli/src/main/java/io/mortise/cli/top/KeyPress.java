package io.mortise.cli.top;

/**
 * A key that was pressed.
 *
 * @param character what was typed; 0 for keys that type nothing
 */
record KeyPress(KeyName key, int character) {

  /** Keys that type nothing, and all that type something. */
  enum KeyName {
    UP,
    DOWN,
    PAGE_UP,
    PAGE_DOWN,
    HOME,
    END,
    ENTER,
    ESCAPE,
    BACKSPACE,
    CHARACTER,
    /** No key is known for what the terminal sent. */
    UNKNOWN,
    /** The terminal is gone. */
    GONE
  }

  static KeyPress of(KeyName key) {
    return new KeyPress(key, 0);
  }

  static KeyPress typed(int character) {
    return new KeyPress(KeyName.CHARACTER, character);
  }

  /** Whether this character was typed. */
  boolean is(char wanted) {
    return key == KeyName.CHARACTER && character == wanted;
  }
}
