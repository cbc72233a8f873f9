package io.mortise.verification.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.verification.model.ModelChecker.ModelVerdict;
import io.mortise.verification.model.ModelChecker.Result;

/** Assertions about models. Each prints the result of the check. */
public final class ModelAssert {
  /** The most states to search; a larger model has to be reduced. */
  private static final int MOST = 12_000_000;

  private ModelAssert() {}

  /** Asserts that the model was explored exhaustively and has no broken state. */
  public static void assertSafe(String name, Model<?> model) {
    assertThat(check(name, model).verdict()).as(name).isEqualTo(ModelVerdict.SAFE);
  }

  /** Asserts that the model has a broken state. */
  public static void assertBroken(String name, Model<?> model) {
    Result result = check(name, model);
    assertThat(result.verdict()).as(name).isEqualTo(ModelVerdict.BROKEN);
    assertThat(result.run()).as(name).isNotEmpty();
  }

  private static Result check(String name, Model<?> model) {
    Result result = ModelChecker.check(model, MOST);
    System.out.println(name + ": " + result);
    return result;
  }
}
