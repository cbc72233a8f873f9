package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.OuterLocks;
import io.mortise.admin.LockParticipant;
import io.mortise.event.LockListener;
import io.mortise.spring.LockContext;
import io.mortise.spring.Locked;
import io.mortise.spring.boot.BootApp.Setup;
import io.mortise.testserver.RedisServer;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;

/** The client of an application, without servers. */
@EnabledIfSystemProperty(named = "mortise.boot", matches = ".+")
class LockClientIT {
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final String url = "mem:boot-" + NAMES.incrementAndGet();

  interface Work {}

  /** Implements an interface without the locked method, as is common. */
  static class Service implements Work {
    @Locked("work/#{#id}")
    public String work(long id) {
      return LockContext.current().lease().name();
    }
  }

  static class Broken {
    @Locked("")
    public void broken() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class ServiceConfig {
    @Bean
    Service service() {
      return new Service();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class BrokenConfig {
    @Bean
    Broken broken() {
      return new Broken();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnClient {
    @Bean
    LockClient own() {
      return LockClient.connect("mem:boot-own");
    }
  }

  static class Listener implements LockListener {
    final List<String> acquired = new CopyOnWriteArrayList<>();

    @Override
    public void onAcquireEnded(AcquireEnded event) {
      acquired.add(event.call().lock());
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ListenerConfig {
    @Bean
    Listener listener() {
      return new Listener();
    }
  }

  @Test
  void givenLine_whenTestsRun_thenSpringBootIsOfItsVersion() {
    assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("mortise.boot"));
  }

  @Test
  void givenUrl_whenStarted_thenMethodsAreLockedInThatStore() {
    try (BootApp app =
            BootApp.setup()
                .and(ServiceConfig.class)
                .set("mortise.url=" + url, "mortise.ttl=20s", "spring.application.name=invoices")
                .start();
        LockClient other = LockClient.connect(url);
        Lease held = app.locks().lock("seen").tryAcquire().orElseThrow()) {
      assertThat(app.bean(Service.class).work(42)).isEqualTo("work/42");
      assertThat(held.isValid()).isTrue();
      LockParticipant holder = other.admin().find("seen").orElseThrow().holders().get(0);
      assertThat(holder.client()).isNotNull();
      assertThat(holder.client().name()).isEqualTo("invoices");
      assertThat(holder.sessionLeft()).isGreaterThan(Duration.ofSeconds(15));
    }
  }

  @Test
  void givenLockedMethod_whenAnotherProcessHoldsTheLock_thenItWaitsAsThePropertySays() {
    try (BootApp app =
            BootApp.setup()
                .and(ServiceConfig.class)
                .set("mortise.url=" + url, "mortise.locked.wait=0")
                .start();
        LockClient other = LockClient.connect(url);
        Lease held = other.lock("work/42").tryAcquire().orElseThrow()) {
      assertThat(held.isValid()).isTrue();
      assertThatThrownBy(() -> app.bean(Service.class).work(42))
          .isInstanceOf(LockTimeoutException.class);
      assertThat(app.bean(Service.class).work(43)).isEqualTo("work/43");
    }
  }

  @Test
  void givenClientOfTheUser_whenStarted_thenThereIsNoOther() {
    try (BootApp app = BootApp.setup().and(OwnClient.class, ServiceConfig.class).start()) {
      assertThat(app.context().getBeansOfType(LockClient.class)).containsOnlyKeys("own");
      assertThat(app.context().getBeansOfType(LockClientOpener.class)).isEmpty();
      assertThat(app.bean(Service.class).work(1)).isEqualTo("work/1");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OuterConfig {
    @Bean
    ReentrantLock oldLock() {
      return new ReentrantLock();
    }

    @Bean
    OuterLocks oldLocks(ReentrantLock oldLock) {
      return name -> oldLock;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnClientWithOuter {
    @Bean
    LockClient own(OuterLocks outer) {
      return LockClient.builder().url("mem:boot-outer").alsoHolding(outer).build();
    }
  }

  @Test
  void givenOuterLocksBean_whenLocked_thenTheOldLockIsHeldToo() throws Exception {
    for (Setup setup :
        List.of(
            BootApp.setup().set("mortise.url=" + url),
            BootApp.setup().and(OwnClientWithOuter.class))) {
      try (BootApp app = setup.and(OuterConfig.class).start()) {
        ReentrantLock old = app.bean(ReentrantLock.class);
        Lease held = app.locks().lock("a").acquire();
        assertThat(old.isLocked()).isTrue();
        held.close();
        assertThat(old.isLocked()).isFalse();
      }
    }
  }

  @Test
  void givenListenerBean_whenLocked_thenItHears() {
    try (BootApp app =
        BootApp.setup()
            .and(ServiceConfig.class, ListenerConfig.class)
            .set("mortise.url=" + url)
            .start()) {
      assertThat(app.bean(Service.class).work(7)).isEqualTo("work/7");
      assertThat(app.bean(Listener.class).acquired).containsExactly("work/7");
    }
  }

  @Test
  void givenNoStore_whenStarted_thenTheAnalysisSaysWhatToSet() {
    FailureAnalysis analysis = BootApp.setup().failure();
    assertThat(analysis.getDescription()).contains("mortise.url is not set");
    assertThat(analysis.getAction()).contains("redis://host").contains("mortise-jdbc");
    FailureAnalysis chosen = BootApp.setup().set("mortise.store-bean=zookeeper").failure();
    assertThat(chosen.getDescription()).contains("mortise.store-bean=zookeeper");
  }

  @Test
  void givenWrongProperties_whenStarted_thenTheAnalysisSaysWhichOne() {
    assertThat(BootApp.setup().set("mortise.url=gopher://host").failure().getDescription())
        .contains("gopher");
    assertThat(
            BootApp.setup().set("mortise.url=" + url, "mortise.ttl=2h").failure().getDescription())
        .contains("TTL of 2h");
    FailureAnalysis namespace =
        BootApp.setup().set("mortise.url=" + url, "mortise.namespace=a").failure();
    assertThat(namespace.getDescription()).contains("mortise.namespace");
    assertThat(namespace.getAction()).contains("namespace=a");
  }

  @Test
  void givenTtlInTheUrl_whenStarted_thenTheAnalysisNamesTheProperty() {
    assertThat(BootApp.setup().set("mortise.url=" + url + "?ttl=2s").failure().getDescription())
        .contains("Unknown parameter 'ttl'")
        .contains("by mortise.ttl in Spring Boot");
  }

  @Test
  void givenServerThatIsNotThere_whenStarted_thenTheAnalysisSaysSo() {
    FailureAnalysis analysis =
        BootApp.setup()
            .set("mortise.url=redis://127.0.0.1:" + RedisServer.freePort() + "?timeout=500ms")
            .failure();
    assertThat(analysis.getDescription()).contains("could not be reached").contains("127.0.0.1");
    assertThat(analysis.getAction()).contains("mortise.url");
  }

  @Test
  void givenMethodThatCannotWork_whenStarted_thenTheAnalysisNamesIt() {
    FailureAnalysis analysis =
        BootApp.setup().and(BrokenConfig.class).set("mortise.url=" + url).failure();
    assertThat(analysis.getDescription()).contains("Broken.broken()");
    assertThat(analysis.getAction()).contains("Change each");
  }

  @Test
  void givenContext_whenClosed_thenClientIsClosedAndItsLocksAreFree() {
    BootApp app = BootApp.setup().set("mortise.url=" + url).start();
    LockClient locks = app.locks();
    try (LockClient other = LockClient.connect(url)) {
      assertThat(locks.lock("left").tryAcquire()).isPresent();
      assertThat(other.lock("left").tryAcquire()).isEmpty();
      app.close();
      assertThat(other.lock("left").tryAcquire()).isPresent();
      assertThatThrownBy(() -> locks.lock("left")).isInstanceOf(IllegalStateException.class);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class FailingConfig {
    static final AtomicReference<LockClient> SEEN = new AtomicReference<>();

    @Bean
    Object failing(LockClient locks) {
      SEEN.set(locks);
      throw new IllegalStateException("of the test");
    }
  }

  @Test
  void givenStartThatFailsLater_whenContextIsGivenUp_thenClientIsClosed() {
    assertThatThrownBy(
            () ->
                BootApp.setup()
                    .and(FailingConfig.class)
                    .set("mortise.url=" + url, "logging.level.root=off")
                    .start())
        .hasStackTraceContaining("of the test");
    assertThatThrownBy(() -> FailingConfig.SEEN.get().lock("a"))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void givenMemoryWithARandomName_whenTwoApplicationsRun_thenTheirLocksAreApart() {
    Setup setup = BootApp.setup().set("mortise.url=mem:${random.uuid}");
    try (BootApp first = setup.start();
        BootApp second = setup.start();
        Lease held = first.locks().lock("a").tryAcquire().orElseThrow();
        Lease other = second.locks().lock("a").tryAcquire().orElseThrow()) {
      assertThat(held.isValid()).isTrue();
      assertThat(other.isValid()).isTrue();
    }
  }

  @Test
  void givenStoppedContext_whenStartedAgain_thenItsClientWorksOn() {
    try (BootApp app = BootApp.setup().set("mortise.url=" + url).start()) {
      app.context().stop();
      app.context().start();
      assertThat(app.locks().lock("again").tryAcquire()).isPresent();
    }
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  static class Orders {}

  @Test
  void givenNoNameOfTheApplication_whenStarted_thenPeopleSeeItsClass() {
    try (BootApp app = BootApp.setup().and(Orders.class).set("mortise.url=" + url).start();
        Lease held = app.locks().lock("seen").tryAcquire().orElseThrow()) {
      assertThat(held.isValid()).isTrue();
      LockParticipant holder = app.locks().admin().find("seen").orElseThrow().holders().get(0);
      assertThat(holder.client()).isNotNull();
      assertThat(holder.client().name()).isEqualTo("Orders");
    }
  }

  /** Spring 7 pauses contexts of tests in its cache. Earlier versions do not. */
  @Test
  void givenContextThatPauses_whenItGoesOn_thenLocksAreStillHeld() {
    try (BootApp app = BootApp.setup().set("mortise.url=" + url).start();
        Lease held = app.locks().lock("paused").tryAcquire().orElseThrow()) {
      Class<?> type = app.context().getClass();
      Method pause = ReflectionUtils.findMethod(type, "pause");
      Method restart = ReflectionUtils.findMethod(type, "restart");
      if (pause != null && restart != null) {
        ReflectionUtils.invokeMethod(pause, app.context());
        ReflectionUtils.invokeMethod(restart, app.context());
      }
      assertThat(held.isValid()).isTrue();
      assertThatCode(() -> app.locks().lock("again").tryAcquire().orElseThrow().close())
          .doesNotThrowAnyException();
    }
  }
}
