package io.mortise.verification.model;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A compact state of small numbers. Immutable. */
public final class PackedState {
  private final byte[] values;

  private PackedState(byte[] values) {
    this.values = values;
  }

  /** Returns a state with so many cells, all zero. */
  public static PackedState of(int count) {
    return new PackedState(new byte[count]);
  }

  /** The number in a cell, -128 to 127. */
  public int get(int index) {
    return values[index];
  }

  /**
   * Returns a copy with one cell changed.
   *
   * @throws IllegalArgumentException if the number does not fit
   */
  public PackedState with(int index, int value) {
    if ((byte) value != value) {
      throw new IllegalArgumentException(value + " does not fit into a cell.");
    }
    byte[] next = values.clone();
    next[index] = (byte) value;
    return new PackedState(next);
  }

  /** A mutable copy, for a step that changes several cells. */
  public PackedStateBuilder draft() {
    return new PackedStateBuilder(values.clone());
  }

  /** A builder of states. Not thread-safe. */
  public static final class PackedStateBuilder {
    private final byte[] values;

    private PackedStateBuilder(byte[] values) {
      this.values = values;
    }

    /** The number in a cell. */
    public int get(int index) {
      return values[index];
    }

    /**
     * Changes a cell.
     *
     * @throws IllegalArgumentException if the number does not fit
     */
    public PackedStateBuilder set(int index, int value) {
      if ((byte) value != value) {
        throw new IllegalArgumentException(value + " does not fit into a cell.");
      }
      values[index] = (byte) value;
      return this;
    }

    /** Returns an independent copy. */
    public PackedStateBuilder copy() {
      return new PackedStateBuilder(values.clone());
    }

    /** Returns the current state; later changes do not affect it. */
    public PackedState done() {
      return new PackedState(values.clone());
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof PackedState that && Arrays.equals(values, that.values);
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
