package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.mortise.LockClient;
import io.reactivex.rxjava3.core.Single;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import kotlin.sequences.Sequence;
import kotlinx.coroutines.flow.Flow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.core.PriorityOrdered;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods that cannot work stop the start of the context, with a remedy. */
class LockedRefusalTest {
  /** A method per problem; the test names it. */
  @SuppressWarnings("unused")
  static class Methods {
    @Locked("a")
    private void isPrivate() {}

    @Locked("a")
    final void isFinal() {}

    @Locked("a")
    static void isStatic() {}

    @Locked({})
    void noName() {}

    @Locked(" ")
    void blankName() {}

    @Locked("")
    void emptyName() {}

    @Locked({"a", "a"})
    void sameNames() {}

    @Locked("a/#{#ids}")
    void unknownParameter(int id) {}

    @Locked("a/#{id}")
    void forgottenSign(int id) {}

    @Locked("a/#{#root}")
    void rootOfExpression(int id) {}

    @Locked("a/#{#p1}")
    void indexTooGreat(int id) {}

    @Locked("a/#{#id")
    void unclosedExpression(int id) {}

    @Locked("a/#{#id +}")
    void brokenExpression(int id) {}

    @Locked("a/{#id}")
    void braceWithoutSign(int id) {}

    @Locked("a/#id")
    void noBraces(int id) {}

    @Locked("#{#day}/#id")
    void noBracesBehindAnExpression(int id, int day) {}

    @Locked("a#1/#other")
    void noVariable(int id) {}

    @Locked("a/#{#ids}")
    void manyValues(List<String> ids) {}

    @Locked("a/${no.such.property}")
    void unsetProperty() {}

    @Locked(value = "a", waitFor = "10")
    void waitWithoutUnit() {}

    @Locked(value = "a", atMost = "soon")
    void wrongAtMost() {}

    @Locked(value = "a", atMost = "1s", atLeast = "2s")
    void atLeastLongerThanAtMost() {}

    @Locked(
        value = {"a", "b"},
        mode = Locked.LockMode.SHARED)
    void severalShared() {}

    @Locked(
        value = {"a", "b"},
        atLeast = "1s")
    void severalAtLeast() {}

    @Locked(
        value = {"a", "b"},
        sticky = "1s")
    void severalSticky() {}

    @Locked(value = "a", sticky = "1s", fair = true)
    void stickyAndFair() {}

    @Locked(value = "a", sticky = "1s", mode = Locked.LockMode.SHARED)
    void stickyAndShared() {}

    @Locked(value = "a", sticky = "11s")
    void stickyForTooLong() {}

    @Locked(value = "a", ifBusy = Locked.IfBusy.SKIP)
    int skippedPrimitive() {
      return 1;
    }

    @Locked("a")
    Future<String> future() {
      return CompletableFuture.completedFuture("");
    }

    @Locked("a")
    Callable<String> callable() {
      return () -> "";
    }

    @Locked("a")
    Stream<String> stream() {
      return Stream.of();
    }

    @Locked("a")
    Supplier<String> supplier() {
      return () -> "";
    }

    @Locked("a")
    Flow<String> kotlinFlow() {
      return new Flow<>() {};
    }

    @Locked("a")
    Sequence<String> kotlinSequence() {
      return new Sequence<>() {};
    }

    @Locked("a")
    Single<String> single() {
      return new Single<>() {};
    }

    @Locked("a")
    Optional<Mono<String>> publisherInside() {
      return Optional.empty();
    }

    @Locked("a")
    Mono<List<? extends Flux<String>>> publisherDeepInside() {
      return Mono.empty();
    }

    @Locked("a")
    CompletableFuture<Stream<String>> streamInStage() {
      return CompletableFuture.completedFuture(Stream.of());
    }

    @Locked("a")
    CompletableFuture<?>[] stages() {
      return new CompletableFuture<?>[0];
    }

    @Locked("a")
    Map<String, Class<? extends Future<?>>> fine() {
      return Map.of();
    }

    @Locked("a")
    Object suspends(String value, Continuation continuation) {
      return value;
    }

    @Locked(value = "a", client = "nobody")
    void unknownClient() {}
  }

  /** As many beans as problems; one of them is checked. */
  private static InvalidLockedMethodException refusal(String method) {
    try (LockClient client = LockClient.connect(SpringApp.newUrl())) {
      return refusal(method, client);
    }
  }

  private static InvalidLockedMethodException refusal(String method, LockClient client) {
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(LockClient.class, () -> client);
      LockedMethodParser parser =
          new LockedMethodParser(context.getDefaultListableBeanFactory(), context.getEnvironment());
      context.register(Empty.class);
      context.refresh();
      for (java.lang.reflect.Method each : Methods.class.getDeclaredMethods()) {
        if (each.getName().equals(method)) {
          return catchThrowableOfType(
              InvalidLockedMethodException.class, () -> parser.parse(each, Methods.class));
        }
      }
      throw new AssertionError("no method " + method);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Empty {}

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "isPrivate | a method that is private | Remove 'private'",
        "isFinal | a method that is final | make it open",
        "isStatic | a method that is static | LockTemplate",
        "noName | names no lock | Give one",
        "blankName | blank name | Name what is to be locked",
        "emptyName | must not be empty | Choose",
        "sameNames | names 'a' twice | Remove one",
        "unknownParameter | asks for #ids | [id]",
        "forgottenSign | 'id' without an object | #{#id}",
        "rootOfExpression | asks for #root | [id]",
        "indexTooGreat | asks for #p1 | [id]",
        "unclosedExpression | cannot be parsed | a/#{#id",
        "brokenExpression | cannot be parsed | a/#{#id +}",
        "braceWithoutSign | has #id as plain text | #{#id}",
        "noBraces | has #id as plain text | #{#id}",
        "noBracesBehindAnExpression | has #id as plain text | #{#id}",
        "manyValues | takes #ids | Choose one property",
        "unsetProperty | property that is not set | ${name:default}",
        "waitWithoutUnit | '10' is no duration | 500ms",
        "wrongAtMost | 'soon' is no duration | 30s",
        "atLeastLongerThanAtMost | longer than the at-most time | Shorten",
        "severalShared | several names are taken exclusively | nest methods",
        "severalAtLeast | several names are taken exclusively | Drop these",
        "skippedPrimitive | primitive int | Optional",
        "future | done after the return | CompletableFuture",
        "severalSticky | taken exclusively | nor sticky",
        "stickyAndFair | sticky lock cannot be | fair",
        "stickyAndShared | only an exclusive lock | Remove 'sticky'",
        "stickyForTooLong | not within | 10 s",
        "callable | done after the return | Return what is ready",
        "stream | done after the return | Return what is ready",
        "supplier | done after the return | Return what is ready",
        "kotlinFlow | no adapter | kotlinx-coroutines-reactor",
        "kotlinSequence | done after the return | Return what is ready",
        "single | no adapter | io.projectreactor:reactor-core",
        "publisherInside | Optional holds a Mono | a Mono alone",
        "publisherDeepInside | Mono holds a Flux | Return what is ready",
        "streamInStage | CompletableFuture holds a Stream | Return what is ready",
        "stages | CompletableFuture[] holds a CompletableFuture | Return what is ready",
        "suspends | cannot intercept suspend functions | mortise-kotlin",
        "unknownClient | no bean of type LockClient with the name 'nobody' | Declare one",
      })
  void givenMethodThatCannotWork_whenParsed_thenItIsRefusedWithARemedy(
      String method, String problem, String remedy) {
    assertThat(refusal(method))
        .isNotNull()
        .hasMessageContaining("@Locked on Methods." + method + "(")
        .hasMessageContaining(problem)
        .hasMessageContaining(remedy);
  }

  @Test
  void givenTypeArgumentsThatDoNoWork_whenParsed_thenTheyAreNotRefused() {
    assertThat(refusal("fine")).isNull();
  }

  @Test
  void givenSignBeforeSomethingElseThanAParameter_whenParsed_thenItIsText() {
    assertThat(refusal("noVariable")).isNull();
  }

  @Test
  void givenMockAsTheClient_whenParsed_thenTheRefusalSaysWhatTestsUse() {
    LockClient mock =
        (LockClient)
            Proxy.newProxyInstance(
                LockClient.class.getClassLoader(),
                new Class<?>[] {LockClient.class},
                (proxy, method, arguments) -> method.getName().equals("hashCode") ? 1 : null);
    assertThat(refusal("noVariable", mock)).hasMessageContaining("is a mock", "@MemoryLocks");
  }

  static class TwoProblems {
    @Locked("")
    void first() {}

    @Locked("a/#{id}")
    void second(int id) {}
  }

  @Configuration(proxyBeanMethods = false)
  static class LazyAndPrototype {
    @Bean
    @Lazy
    TwoProblems lazy() {
      throw new AssertionError("not made to be looked at");
    }

    @Bean
    @Scope("prototype")
    TwoProblems prototype() {
      throw new AssertionError("not made to be looked at");
    }
  }

  @Test
  void givenBeansThatAreNotMadeAtStart_whenStarted_thenAllProblemsAreToldAtOnce() {
    InvalidLockedMethodException refused =
        catchThrowableOfType(
            InvalidLockedMethodException.class, () -> SpringApp.start(LazyAndPrototype.class));
    assertThat(refused.problems())
        .hasSize(2)
        .anyMatch(problem -> problem.contains("TwoProblems.first()"))
        .anyMatch(problem -> problem.contains("TwoProblems.second(int)"));
    assertThat(refused).hasMessageContaining("2 methods with @Locked cannot work");
  }

  static class Fine {
    @Locked("a")
    String call() {
      return "called";
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class WithoutClient {
    @Bean
    Fine fine() {
      return new Fine();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class SecondClient {
    @Bean
    static LockClient second() {
      return LockClient.connect(SpringApp.newUrl());
    }

    @Bean
    Fine fine() {
      return new Fine();
    }
  }

  @Test
  void givenNoClientOrSeveral_whenStarted_thenItIsRefused() {
    assertThatThrownBy(() -> new AnnotationConfigApplicationContext(WithoutClient.class))
        .isInstanceOf(InvalidLockedMethodException.class)
        .hasMessageContaining("no bean of type LockClient")
        .hasMessageContaining("LockClient.connect(url)");
    assertThatThrownBy(() -> SpringApp.start(SecondClient.class))
        .isInstanceOf(InvalidLockedMethodException.class)
        .hasMessageContaining("[locks, second]")
        .hasMessageContaining("@Primary");
  }

  @Configuration(proxyBeanMethods = false)
  static class EarlyBean {
    @Bean
    static Fine fine() {
      return new Fine();
    }

    @Bean
    static EarlyProcessor processor(Fine fine) {
      return new EarlyProcessor(fine);
    }
  }

  /** Created before the processor that makes proxies, which has no priority. */
  record EarlyProcessor(Fine needed) implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  @Test
  void givenBeanThatWasMadeBeforeProxies_whenStarted_thenItIsRefused() {
    assertThatThrownBy(() -> SpringApp.start(EarlyBean.class))
        .isInstanceOf(InvalidLockedMethodException.class)
        .hasMessageContaining("'fine'")
        .hasMessageContaining("no proxy")
        .hasMessageContaining("ObjectProvider");
  }

  interface Other {
    void other();
  }

  static class HidesTheMethod implements Other {
    @Override
    public void other() {}

    @Locked("a")
    public void hidden() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class InterfaceProxy {
    @Bean
    HidesTheMethod hides() {
      return new HidesTheMethod();
    }
  }

  @Test
  void givenMethodThatIsInNoInterfaceOfTheProxy_whenStarted_thenItIsRefused() {
    assertThatThrownBy(() -> SpringApp.start(InterfaceProxy.class))
        .isInstanceOf(InvalidLockedMethodException.class)
        .hasMessageContaining("HidesTheMethod.hidden")
        .hasMessageContaining("proxyTargetClass = true");
  }
}
