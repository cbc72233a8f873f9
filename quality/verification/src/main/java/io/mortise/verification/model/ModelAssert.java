package io.mortise.verification.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.verification.model.ModelChecker.ModelVerdict;
import io.mortise.verification.model.ModelChecker.Result;

/** What tests say about models. Each prints what came of the check. */
public final class ModelAssert {
  /** Search no further than this; a model that is larger has to be made smaller. */
  private static final int MOST = 12_000_000;

  private ModelAssert() {}

  /** No state of the model is broken, and all have been looked at. */
  public static void assertSafe(String name, Model<?> model) {
    assertThat(check(name, model).verdict()).as(name).isEqualTo(ModelVerdict.SAFE);
  }

  /** A state of the model is broken. */
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
