package io.mortise.testkit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test that has a parameter of type {@link TestLocks} its own, and closes it after the
 * test. Use it by {@code @ExtendWith(TestLocksExtension.class)}. Parameters of one test, and those
 * of its {@code @BeforeEach} methods, are the same object.
 */
public final class TestLocksExtension implements ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(TestLocksExtension.class);

  /** For JUnit. */
  public TestLocksExtension() {}

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == TestLocks.class;
  }

  @Override
  public TestLocks resolveParameter(ParameterContext parameter, ExtensionContext test) {
    return test.getStore(NAMESPACE)
        .computeIfAbsent(TestLocks.class, type -> new TestLocks(), TestLocks.class);
  }
}
