package io.mortise.cli.top;

/**
 * A pressed key.
 *
 * @param character the typed character; 0 for keys that type nothing
 */
record KeyPress(KeyName key, int character) {

  /** Names of keys; one name stands for all keys that type a character. */
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
    /** An unknown sequence. */
    UNKNOWN,
    /** The terminal is closed. */
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
