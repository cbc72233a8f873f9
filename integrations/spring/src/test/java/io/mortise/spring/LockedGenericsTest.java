package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockClient;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** Methods whose callers know another signature than their class has, in proxies of both kinds. */
class LockedGenericsTest {
  /** The usual form of message handlers. */
  interface Handler<T> {
    Object handle(T message);
  }

  interface Middle<K, V extends CharSequence> extends Handler<V> {}

  interface LockedHandler<T> {
    @Locked("generic/#{#p0}")
    Object handle(T message);
  }

  interface DefaultHandler<T> extends Handler<T> {
    @Override
    @Locked("generic/#{#p0}")
    default Object handle(T message) {
      return names();
    }
  }

  private static Object names() {
    return LockContext.find().map(context -> context.lease().name()).orElse("not locked");
  }

  static class OfClass implements Handler<String> {
    @Override
    @Locked("generic/#{#message}")
    public String handle(String message) {
      return String.valueOf(names());
    }
  }

  static class OfMiddle implements Middle<Long, String> {
    @Override
    @Locked("generic/#{#message}")
    public Object handle(String message) {
      return names();
    }
  }

  static class OfInterface implements LockedHandler<String>, Handler<String> {
    @Override
    public String handle(String message) {
      return String.valueOf(names());
    }
  }

  static class OfDefault implements DefaultHandler<String> {}

  static class OverDefault implements DefaultHandler<String> {
    @Override
    public Object handle(String message) {
      return names();
    }
  }

  abstract static class Base<T> implements Handler<T> {
    @Override
    @Locked("generic/#{#p0}")
    public Object handle(T message) {
      return names();
    }
  }

  static class OfBase extends Base<String> {}

  static class OverBase extends Base<String> {
    @Override
    public String handle(String message) {
      return String.valueOf(names());
    }
  }

  /** Does not implement the interface. */
  static class Plain {
    @Locked("generic/#{#message}")
    public String handle(String message) {
      return String.valueOf(names());
    }
  }

  static class OfPlain extends Plain implements Handler<String> {}

  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class ByInterface {}

  @Configuration(proxyBeanMethods = false)
  @EnableMortise(proxyTargetClass = true)
  static class ByClass {}

  private static void assertLocked(Class<?> type, Class<?> configuration, boolean byInterfaces) {
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(LockClient.class, () -> LockClient.connect(SpringApp.newUrl()));
      context.register(configuration);
      context.registerBean("handler", type);
      context.refresh();
      Object bean = context.getBean("handler");
      assertThat(AopUtils.isJdkDynamicProxy(bean)).isEqualTo(byInterfaces);
      @SuppressWarnings("unchecked") // Each of them handles texts.
      Handler<String> handler = (Handler<String>) bean;
      assertThat(handler.handle("a")).isEqualTo("generic/a");
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        OfClass.class,
        OfMiddle.class,
        OfInterface.class,
        OfDefault.class,
        OverDefault.class,
        OfBase.class,
        OverBase.class,
        OfPlain.class
      })
  void givenMethodBehindAGenericOne_whenCalledByAnInterface_thenItIsLocked(Class<?> type) {
    assertLocked(type, ByInterface.class, true);
    assertLocked(type, ByClass.class, false);
  }
}
