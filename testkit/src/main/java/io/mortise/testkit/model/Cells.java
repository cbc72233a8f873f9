package io.mortise.testkit.model;

import io.mortise.Beta;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A state made of small numbers, in little memory. Immutable. */
@Beta
public final class Cells {
  private final byte[] values;

  private Cells(byte[] values) {
    this.values = values;
  }

  /** So many cells, all zero. */
  public static Cells of(int count) {
    return new Cells(new byte[count]);
  }

  /** The number in a cell, -128 to 127. */
  public int get(int index) {
    return values[index];
  }

  /**
   * The same but for one cell.
   *
   * @throws IllegalArgumentException if the number does not fit
   */
  public Cells with(int index, int value) {
    if ((byte) value != value) {
      throw new IllegalArgumentException(value + " does not fit into a cell.");
    }
    byte[] next = values.clone();
    next[index] = (byte) value;
    return new Cells(next);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cells that && Arrays.equals(values, that.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public String toString() {
    return Arrays.toString(values);
  }
}
