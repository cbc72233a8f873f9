package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.BoundedWait;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Class loaders and thread-locals of arbitrary callers. */
@Tag("extended")
class ClassLoadersTest {
  private static final InheritableThreadLocal<Object> TENANT = new InheritableThreadLocal<>();

  /** A provider of a missing library. */
  public static final class BrokenProvider implements LockStoreProvider {
    /** For {@link java.util.ServiceLoader}. */
    public BrokenProvider() {
      throw new NoClassDefFoundError("of/a/library/ThatIsMissing");
    }

    @Override
    public Set<String> schemes() {
      return Set.of("broken");
    }

    @Override
    public LockStore open(StoreUrl url) {
      throw new UnsupportedOperationException();
    }
  }

  private static <T> CompletableFuture<T> onThread(ClassLoader context, Callable<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(call.call());
              } catch (Exception | Error e) {
                result.completeExceptionally(e);
              }
            });
    thread.setContextClassLoader(context);
    thread.start();
    return result;
  }

  @Report({
    "spring-projects/spring-boot#15737",
    "spring-projects/spring-boot#39843",
    "spring-projects/spring-boot#19427",
    "talsma-ict/context-propagation#94",
    "powsybl/powsybl-core#1727"
  })
  @Test
  void givenThreadWhoseContextClassLoaderKnowsNothing_thenStoresAreFound() {
    String redis = FieldStore.REDIS.newUrl();
    List<ClassLoader> loaders = new ArrayList<>();
    loaders.add(null);
    loaders.add(ClassLoader.getPlatformClassLoader());
    for (ClassLoader loader : loaders) {
      for (String url : List.of("mem:loaders", redis, "quorum:mem:a,mem:b,mem:c")) {
        assertThat(BoundedWait.join(onThread(loader, () -> isUsable(url)))).isTrue();
      }
    }
  }

  private static boolean isUsable(String url) {
    try (LockClient client = LockClient.connect(url);
        Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
      return lease.isValid();
    }
  }

  @Report({
    "jetty/jetty.project#4340",
    "jakartaee/websocket#254",
    "flyteorg/flytekit-java#152",
    "quarkusio/quarkus#12136"
  })
  @Test
  void givenProvidersThatCannotBeLoaded_thenTheOthersServe_andTheMessageNamesThem(
      @TempDir Path folder) throws Exception {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.write(
        services.resolve(LockStoreProvider.class.getName()),
        List.of("of.no.jar.Missing", BrokenProvider.class.getName(), "java.lang.String"));
    List<URL> urls = new ArrayList<>(List.of(folder.toUri().toURL()));
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    for (String part : classPath.split(File.pathSeparator, -1)) {
      urls.add(Path.of(part).toUri().toURL());
    }
    try (URLClassLoader loader =
        new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      try (AutoCloseable client = connect(loader, FieldStore.REDIS.newUrl())) {
        assertThat(client.getClass().getClassLoader()).isSameAs(loader);
      }
      assertThatThrownBy(() -> connect(loader, "nothing:x"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("of.no.jar.Missing")
          .hasMessageContaining("BrokenProvider");
    }
  }

  private static AutoCloseable connect(ClassLoader loader, String url) throws Exception {
    try {
      return (AutoCloseable)
          loader
              .loadClass(LockClient.class.getName())
              .getMethod("connect", String.class)
              .invoke(null, url);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /** State that an application leaves behind on its thread. */
  private record LeftBehind(
      WeakReference<Object> tenant, WeakReference<ClassLoader> loader, LockClient client) {}

  /** Has a request, on an application's thread, use locks first. */
  private static LeftBehind used(String url) throws IOException {
    URLClassLoader loader = new URLClassLoader(new URL[0], ClassLoadersTest.class.getClassLoader());
    Object tenant = new Object();
    LockClient client =
        BoundedWait.join(
            onThread(
                loader,
                () -> {
                  TENANT.set(tenant);
                  LockClient opened = LockClient.connect(url);
                  CountDownLatch leads = new CountDownLatch(1);
                  Leadership leadership =
                      opened.leader(
                          "leader",
                          term -> {
                            leads.countDown();
                            Thread.currentThread().join();
                          });
                  leads.await();
                  assertThat(leadership.isLeader()).isTrue();
                  Lease lease = opened.lock("x").acquire();
                  CompletableFuture<Lease> next = opened.lock("x").acquireAsync();
                  CompletableFuture<Lease> never =
                      opened.lock("x").acquireAsync(Duration.ofMillis(100));
                  assertThat(never).failsWithin(BoundedWait.ANSWER);
                  lease.close();
                  BoundedWait.join(next).close();
                  return opened;
                }));
    return new LeftBehind(new WeakReference<>(tenant), new WeakReference<>(loader), client);
  }

  @Report({
    "sonatype/nexus-oss#48",
    "jetty/jetty.project#5859",
    "wro4j/wro4j#304",
    "Kotlin/kotlinx.coroutines#3832",
    "open-telemetry/opentelemetry-java#7488",
    "redisson/redisson#982",
    "redisson/redisson#599",
    "quarkusio/quarkus#18864"
  })
  @ParameterizedTest
  @EnumSource
  void givenThreadOfAnApplicationThatOpens_thenNoThreadKeepsItsLocals_norItsLoaderAfterTheClose(
      FieldStore store) throws Exception {
    LeftBehind left = used(store.newUrl());
    try {
      awaitGone(left.tenant(), "thread-local");
    } finally {
      left.client().close();
    }
    WeakReference<ClassLoader> loader = left.loader();
    left = null;
    awaitGone(loader, "class loader");
  }

  private static void awaitGone(WeakReference<?> left, String what) {
    BoundedWait.until(
        BoundedWait.ANSWER,
        what + " is not kept",
        () -> {
          System.gc();
          return left.get() == null;
        });
  }
}
