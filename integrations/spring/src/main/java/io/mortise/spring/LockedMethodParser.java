package io.mortise.spring;

import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.StoreInfo;
import io.mortise.spi.time.DurationText;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * Parses a method with {@link Locked} into the plan of its calls, or reports why it cannot work.
 */
final class LockedMethodParser {
  private static final String FOREVER = "forever";
  private static final String WAIT_PROPERTY = "mortise.locked.wait";

  /** Depth of inspected type arguments: those of recursive bounds have no end. */
  private static final int DEEPEST = 8;

  static final boolean HAS_REACTOR =
      ClassUtils.isPresent(
          "reactor.core.publisher.Mono", LockedMethodParser.class.getClassLoader());

  static final boolean HAS_REACTIVE_TRANSACTIONS =
      HAS_REACTOR
          && ClassUtils.isPresent(
              "org.springframework.transaction.reactive.TransactionSynchronization",
              LockedMethodParser.class.getClassLoader());

  /** Results whose work is done by subscribers, which need an adapter of Spring's registry. */
  private static final Set<String> PUBLISHERS =
      Set.of(
          "io.reactivex.rxjava3.core.Completable",
          "io.reactivex.rxjava3.core.Maybe",
          "io.reactivex.rxjava3.core.Observable",
          "io.reactivex.rxjava3.core.Single",
          "io.smallrye.mutiny.Uni",
          "java.util.concurrent.Flow$Publisher",
          "kotlinx.coroutines.Deferred",
          "kotlinx.coroutines.flow.Flow",
          "org.reactivestreams.Publisher");

  /** Other results whose work is done after the return, by their receiver. */
  private static final Set<String> LATER =
      Set.of(
          "io.reactivex.Completable",
          "io.reactivex.Maybe",
          "io.reactivex.Observable",
          "io.reactivex.Single",
          "jakarta.ws.rs.core.StreamingOutput",
          "java.util.concurrent.Callable",
          "java.util.concurrent.CompletionStage",
          "java.util.concurrent.Future",
          "java.util.stream.BaseStream",
          "kotlin.sequences.Sequence",
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

  /** As {@link #LATER}; but objects that implement them have other uses. */
  private static final Set<String> FUNCTIONS =
      Set.of(
          "java.util.function.BooleanSupplier",
          "java.util.function.DoubleSupplier",
          "java.util.function.IntSupplier",
          "java.util.function.LongSupplier",
          "java.util.function.Supplier",
          "kotlin.Lazy",
          "kotlin.jvm.functions.Function0");

  private final ConfigurableListableBeanFactory beans;
  private final Environment environment;
  private final ParameterNameDiscoverer parameters = new DefaultParameterNameDiscoverer();

  LockedMethodParser(ConfigurableListableBeanFactory beans, Environment environment) {
    this.beans = beans;
    this.environment = environment;
  }

  /**
   * Parses a method with the annotation.
   *
   * @throws InvalidLockedMethodException if it cannot work
   */
  LockedMethod parse(Method method, Class<?> targetClass) {
    String description = description(method, targetClass);
    Locked locked =
        Objects.requireNonNull(LockedMethods.annotation(method), "the method is not locked");
    try {
      return parse(method, targetClass, description, locked);
    } catch (IllegalArgumentException e) {
      throw new InvalidLockedMethodException(
          List.of("@Locked on " + description + " cannot work: " + sentence(e)));
    }
  }

  private static String sentence(IllegalArgumentException e) {
    String message = String.valueOf(e.getMessage());
    return message.endsWith(".") ? message : message + ".";
  }

  private LockedMethod parse(
      Method method, Class<?> targetClass, String description, Locked locked) {
    refuseUnproxied(method);
    ResolvableType result = SuspendFunctions.result(method, targetClass);
    ReactiveAdapter adapter = adapter(method, result.toClass());
    LockedMethod.Kind kind = kind(method, targetClass, result, adapter);
    boolean skips = locked.ifBusy() == Locked.IfBusy.SKIP;
    List<NameTemplate> templates = templates(method, description, locked);
    LockClient client = client(locked.client());
    LockPlan plan =
        new LockPlan(
            client,
            locked.mode() == Locked.LockMode.SHARED,
            wait(locked.waitFor()),
            skips,
            options(locked),
            locked.interrupt(),
            locked.until() == Locked.Until.COMMIT);
    refuseForSeveral(plan, templates.size());
    refuseUnsupported(plan);
    return new LockedMethod(
        description,
        kind,
        plan,
        templates,
        adapter,
        skips ? skipped(method, kind, result, adapter) : null,
        Arrays.stream(method.getExceptionTypes())
            .anyMatch(thrown -> thrown.isAssignableFrom(InterruptedException.class)));
  }

  private static String description(Method method, Class<?> targetClass) {
    return ClassUtils.getUserClass(targetClass).getSimpleName()
        + "."
        + method.getName()
        + Stream.of(method.getParameterTypes())
            .map(Class::getSimpleName)
            .collect(Collectors.joining(", ", "(", ")"));
  }

  private static void refuseUnproxied(Method method) {
    int modifiers = method.getModifiers();
    for (String modifier :
        new String[] {
          Modifier.isPrivate(modifiers) ? "private" : "",
          Modifier.isStatic(modifiers) ? "static" : "",
          Modifier.isFinal(modifiers) ? "final" : ""
        }) {
      if (!modifier.isEmpty()) {
        throw new IllegalArgumentException(
            "a proxy cannot stand before a method that is "
                + modifier
                + ". Remove '"
                + modifier
                + "' (in Kotlin: make it open), or use LockTemplate inside of it");
      }
    }
  }

  private static @Nullable ReactiveAdapter adapter(Method method, Class<?> result) {
    if (SuspendFunctions.isSuspend(method)) {
      SuspendFunctions.refuseUnserved(method);
      return ReactiveAdapterRegistry.getSharedInstance()
          .getAdapter(reactor.core.publisher.Mono.class);
    }
    ReactiveAdapter adapter = adapter(result);
    if (adapter == null && isOneOf(PUBLISHERS, result)) {
      throw new IllegalArgumentException(
          "the work of its result "
              + result.getSimpleName()
              + " is done by subscribers, and Spring has no adapter for it here. Add"
              + " io.projectreactor:reactor-core to the class path (for Kotlin's Flow and Deferred"
              + " kotlinx-coroutines-reactor, too), or return a CompletableFuture");
    }
    return adapter;
  }

  private static @Nullable ReactiveAdapter adapter(Class<?> result) {
    return HAS_REACTOR && result != void.class && !CompletionStage.class.isAssignableFrom(result)
        ? ReactiveAdapterRegistry.getSharedInstance().getAdapter(result)
        : null;
  }

  /** Whether the method's work is done by subscriptions. */
  static boolean isPublisher(Method method, Class<?> targetClass) {
    return SuspendFunctions.isSuspend(method)
        ? SuspendFunctions.ARE_SERVED
        : adapter(ResolvableType.forMethodReturnType(method, targetClass).toClass()) != null;
  }

  private static LockedMethod.Kind kind(
      Method method,
      Class<?> targetClass,
      ResolvableType resultType,
      @Nullable ReactiveAdapter adapter) {
    Class<?> result = resultType.toClass();
    refuseLaterInside(resultType, result, 0);
    if (SuspendFunctions.isSuspend(method)) {
      if (isOneOf(PUBLISHERS, result) || isLater(result)) {
        throw new IllegalArgumentException(
            "the work of its result "
                + result.getSimpleName()
                + " is done after the suspend function has returned, when the lock is free again."
                + " Return what is ready, or remove 'suspend'");
      }
      return LockedMethod.Kind.REACTIVE;
    }
    if (result == CompletionStage.class || result == CompletableFuture.class) {
      boolean onExecutor =
          AnnotatedElementUtils.hasAnnotation(method, Async.class)
              || AnnotatedElementUtils.hasAnnotation(targetClass, Async.class);
      return onExecutor ? LockedMethod.Kind.STAGE_ON_EXECUTOR : LockedMethod.Kind.STAGE;
    }
    if (adapter != null) {
      return LockedMethod.Kind.REACTIVE;
    }
    if (isLater(result)) {
      throw new IllegalArgumentException(
          "the work of its result "
              + result.getSimpleName()
              + " is done after the return, when the lock is free again. Return what is ready, or a"
              + " CompletableFuture");
    }
    return LockedMethod.Kind.PLAIN;
  }

  /**
   * As the {@code Mono} of a {@code ResponseEntity<Mono<T>>}: the lock does not last until the
   * inner one ends.
   */
  private static void refuseLaterInside(ResolvableType type, Class<?> result, int depth) {
    if (depth > DEEPEST || type.toClass() == Class.class) {
      return;
    }
    List<ResolvableType> inside = new ArrayList<>(Arrays.asList(type.getGenerics()));
    if (type.isArray()) {
      inside.add(type.getComponentType());
    }
    for (ResolvableType each : inside) {
      Class<?> found = each.toClass();
      if (isOneOf(PUBLISHERS, found) || isLater(found)) {
        throw new IllegalArgumentException(
            "its result "
                + result.getSimpleName()
                + " holds a "
                + found.getSimpleName()
                + ", whose work is done when the lock is free again. Return what is ready, or a "
                + found.getSimpleName()
                + " alone if it is a CompletableFuture or a publisher");
      }
      refuseLaterInside(each, result, depth + 1);
    }
  }

  private static boolean isLater(Class<?> type) {
    return FUNCTIONS.contains(type.getName()) || isOneOf(LATER, type);
  }

  private static boolean isOneOf(Set<String> names, @Nullable Class<?> type) {
    return type != null
        && (names.contains(type.getName())
            || isOneOf(names, type.getSuperclass())
            || Arrays.stream(type.getInterfaces()).anyMatch(each -> isOneOf(names, each)));
  }

  private List<NameTemplate> templates(Method method, String description, Locked locked) {
    if (locked.value().length == 0) {
      throw new IllegalArgumentException("it names no lock. Give one or more names");
    }
    Set<String> seen = new LinkedHashSet<>();
    List<NameTemplate> templates = new ArrayList<>();
    for (String text : locked.value()) {
      String template = resolved(text);
      if (!seen.add(template)) {
        throw new IllegalArgumentException("it names '" + template + "' twice. Remove one of them");
      }
      NameTemplate parsed = NameTemplate.parse(template, method, description, parameters, beans);
      if (parsed.isConstant()) {
        LockName.of(template);
        if (template.isBlank()) {
          throw new IllegalArgumentException("it has a blank name. Name what is to be locked");
        }
      }
      templates.add(parsed);
    }
    return List.copyOf(templates);
  }

  /** Resolves placeholders. */
  private String resolved(String text) {
    String value = beans.resolveEmbeddedValue(text);
    if (value == null || value.contains("${")) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' asks for a property that is not set. Set it, or give a default: ${name:default}");
    }
    return value;
  }

  private @Nullable Duration wait(String text) {
    String value = resolved(text).strip();
    if (value.isEmpty()) {
      value = environment.getProperty(WAIT_PROPERTY, "").strip();
    }
    if (value.isEmpty()) {
      return LockPlan.DEFAULT_WAIT;
    }
    return value.equals(FOREVER) ? null : duration("the wait", value);
  }

  private static Duration duration(String what, String text) {
    try {
      return DurationText.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          what + " '" + text + "' is no duration. Write it like 500ms, 30s, 5m, 2h or 1h30m", e);
    }
  }

  private LockOptions options(Locked locked) {
    if (locked.mode() == Locked.LockMode.SHARED && !locked.sticky().isEmpty()) {
      throw new IllegalArgumentException(
          "only an exclusive lock can be sticky. Remove 'sticky', or 'mode'");
    }
    LockOptions options = LockOptions.DEFAULTS.withFair(locked.fair());
    String atMost = resolved(locked.atMost()).strip();
    String atLeast = resolved(locked.atLeast()).strip();
    if (!atMost.isEmpty()) {
      options = options.withAtMost(duration("the at-most time", atMost));
    }
    if (!atLeast.isEmpty()) {
      options = options.withAtLeast(duration("the at-least time", atLeast));
    }
    String sticky = resolved(locked.sticky()).strip();
    if (!sticky.isEmpty()) {
      options = options.withSticky(duration("the sticky time", sticky));
    }
    return options;
  }

  private static void refuseForSeveral(LockPlan plan, int names) {
    if (names > 1 && (plan.shared() || !plan.options().equals(LockOptions.DEFAULTS))) {
      throw new IllegalArgumentException(
          "several names are taken exclusively, without at-most and at-least times, neither fair"
              + " nor sticky."
              + " Drop these, or nest methods with one name each");
    }
  }

  private static void refuseUnsupported(LockPlan plan) {
    LockAdmin admin = plan.client().admin();
    if (admin == null) {
      throw new IllegalArgumentException(
          "its LockClient is a mock, which locks nothing. Use @MemoryLocks in tests, or a client of"
              + " mem:");
    }
    StoreInfo store = admin.store();
    if (plan.shared()) {
      refuse(store, StoreInfo.Feature.SHARED, "shared locks", "mode");
    }
    if (plan.options().terms().atLeast() != null) {
      refuse(store, StoreInfo.Feature.AT_LEAST, "at-least times", "atLeast");
    }
    if (plan.options().sticky() != null) {
      refuse(store, StoreInfo.Feature.STICKY, "sticky locks", "sticky");
    }
  }

  private static void refuse(
      StoreInfo store, StoreInfo.Feature feature, String what, String attribute) {
    if (!store.has(feature)) {
      throw new IllegalArgumentException(
          "store "
              + store.display()
              + " has no "
              + what
              + ". Remove '"
              + attribute
              + "', or use another store");
    }
  }

  private LockClient client(String name) {
    try {
      return name.isEmpty()
          ? beans.getBean(LockClient.class)
          : beans.getBean(name, LockClient.class);
    } catch (NoUniqueBeanDefinitionException e) {
      throw new IllegalArgumentException(
          "there are several beans of type LockClient: "
              + e.getBeanNamesFound()
              + ". Name one by client = \"…\", or make one of them @Primary",
          e);
    } catch (NoSuchBeanDefinitionException e) {
      throw new IllegalArgumentException(
          "there is no bean of type LockClient"
              + (name.isEmpty() ? "" : " with the name '" + name + "'")
              + ". Declare one, such as: @Bean LockClient locks() { return LockClient.connect(url); }",
          e);
    }
  }

  /** The result of a skipped call; for a stage without executor, the stage's value. */
  private static @Nullable Object skipped(
      Method method,
      LockedMethod.Kind kind,
      ResolvableType result,
      @Nullable ReactiveAdapter adapter) {
    if (SuspendFunctions.isSuspend(method)) {
      SuspendFunctions.refuseSkip(method, result);
      return null;
    }
    if (kind == LockedMethod.Kind.REACTIVE) {
      if (adapter != null && !adapter.supportsEmpty()) {
        throw new IllegalArgumentException(
            "SKIP has nothing to return: " + result + " is never empty. Use IfBusy.THROW");
      }
      return null;
    }
    if (kind == LockedMethod.Kind.PLAIN) {
      return nothing(result.toClass());
    }
    Object value = nothing(result.as(CompletionStage.class).getGeneric(0).toClass());
    return kind == LockedMethod.Kind.STAGE ? value : CompletableFuture.completedFuture(value);
  }

  private static @Nullable Object nothing(Class<?> type) {
    if (type == Optional.class) {
      return Optional.empty();
    } else if (type == OptionalInt.class) {
      return OptionalInt.empty();
    } else if (type == OptionalLong.class) {
      return OptionalLong.empty();
    } else if (type == OptionalDouble.class) {
      return OptionalDouble.empty();
    } else if (type.isPrimitive() && type != void.class) {
      throw new IllegalArgumentException(
          "SKIP has nothing to return: its result is a primitive "
              + type
              + ". Return an Optional, or use IfBusy.THROW");
    }
    return null;
  }

  /** Has a bean destroyed before the client that its locked methods use. */
  void destroyBeforeClient(String bean, String client) {
    beans.registerDependentBean(
        client.isEmpty() ? beans.resolveNamedBean(LockClient.class).getBeanName() : client, bean);
  }
}
