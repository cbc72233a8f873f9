package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockTimeoutException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockQuery;
import io.mortise.admin.LockState;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.SpringVersion;
import org.springframework.core.annotation.AliasFor;

/** Each attribute of {@link Locked}, on methods that return when their work is done. */
class LockedMethodTest {
  private SpringApp app;
  private Service service;

  record Invoice(long id, List<String> lines) {}

  enum Region {
    NORTH
  }

  interface Pricing {
    @Locked("pricing")
    boolean isLocked();
  }

  static class PricingService implements Pricing {
    @Override
    public boolean isLocked() {
      return LockContext.find().isPresent();
    }
  }

  @Target(ElementType.METHOD)
  @Retention(RetentionPolicy.RUNTIME)
  @Locked(value = "job", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
  @interface OneJob {
    @AliasFor(annotation = Locked.class, attribute = "value")
    String[] name();
  }

  public static class Tenants {
    public String current() {
      return "blue";
    }
  }

  static class Service {
    @Locked("fixed")
    String fixed() {
      return LockContext.current().lease().name();
    }

    @Locked("fixed")
    <T> T under(Supplier<T> task) {
      return task.get();
    }

    @Locked("invoice/#{#id}")
    String parameter(long id) {
      return LockContext.current().lease().name();
    }

    @Locked("#{#invoice.id}/#{#p1}/#{#a1.name()}/#{#invoice.lines.?[#this.length() > 1].size()}")
    String expression(Invoice invoice, Region region) {
      return LockContext.current().lease().name();
    }

    @Locked("tenant/#{@tenants.current()}/${region}/#{T(java.lang.Math).abs(#id)}")
    String beansAndProperties(int id) {
      return LockContext.current().lease().name();
    }

    @Locked("object/#{#value}")
    String anything(Object value) {
      return LockContext.current().lease().name();
    }

    @Locked({"account/#{#from}", "account/#{#to}"})
    List<String> transfer(int from, int to) {
      return LockContext.current().leases().stream().map(Lease::name).toList();
    }

    @Locked(value = "busy", waitFor = "0")
    void thrown() {}

    @Locked(value = "busy", waitFor = "${short}")
    void thrownLater() {}

    @Locked("busy")
    void waitsByDefault() {}

    @Locked(value = "busy", waitFor = "forever")
    void waitsForever() {}

    @Locked(value = "busy", waitFor = "forever")
    void waitsForeverAndDeclares() throws InterruptedException {}

    @Locked(value = "busy", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    void skippedVoid() {
      throw new AssertionError("not to be run");
    }

    @Locked(value = "busy", waitFor = "1ms", ifBusy = Locked.IfBusy.SKIP)
    Optional<String> skippedOptional() {
      return Optional.of("run");
    }

    @Locked(value = "busy", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    OptionalInt skippedInt() {
      return OptionalInt.of(1);
    }

    @Locked(value = "busy", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    String skippedReference() {
      return "run";
    }

    @Locked(
        value = {"busy", "idle"},
        waitFor = "0",
        ifBusy = Locked.IfBusy.SKIP)
    Optional<String> skippedGroup() {
      return Optional.of("run");
    }

    @OneJob(name = "busy")
    Optional<String> skippedByMetaAnnotation() {
      return Optional.of("run");
    }

    @Locked(value = "timed", atMost = "2h")
    void atMost(Runnable task) {
      task.run();
    }

    @Locked(value = "timed", atLeast = "1h", waitFor = "0", ifBusy = Locked.IfBusy.SKIP)
    Optional<String> atLeast() {
      return Optional.of("run");
    }

    @Locked(value = "sticky", sticky = "5s")
    long sticky() {
      return LockContext.current().token();
    }

    @Locked(value = "read", mode = Locked.LockMode.SHARED)
    void shared(Runnable task) {
      task.run();
    }

    @Locked(value = "read", mode = Locked.LockMode.SHARED, waitFor = "0")
    void sharedNow() {}

    @Locked("read")
    void exclusive(Runnable task) {
      task.run();
    }

    @Locked(value = "fair", fair = true)
    String fair() {
      return LockContext.current().lease().name();
    }

    @Locked("lost")
    void interruptedOnLoss(Runnable before) throws InterruptedException {
      before.run();
      new CountDownLatch(1).await();
    }

    @Locked(
        value = {"lost", "other"},
        interrupt = true)
    void groupInterruptedOnLoss(Runnable before) throws InterruptedException {
      before.run();
      new CountDownLatch(1).await();
    }

    @Locked(value = "lost", interrupt = false)
    void notInterruptedOnLoss(Runnable task) {
      task.run();
    }

    @Locked("failing")
    void fails() throws java.io.IOException {
      throw new java.io.IOException("the method's own");
    }

    @Locked(value = "elsewhere", client = "second")
    long elsewhere() {
      return LockContext.current().token();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Config {
    @Bean
    Service service() {
      return new Service();
    }

    @Bean
    Tenants tenants() {
      return new Tenants();
    }

    @Bean
    Pricing pricing() {
      return new PricingService();
    }

    @Bean(defaultCandidate = false)
    LockClient second() {
      return LockClient.connect(SpringApp.newUrl());
    }
  }

  @BeforeEach
  void start() {
    app =
        SpringApp.start(
            Map.of("region", "eu", "short", "20ms", "mortise.locked.wait", "2s"), Config.class);
    service = app.bean(Service.class);
  }

  @AfterEach
  void close() {
    app.close();
  }

  @Test
  void givenLiteralName_whenCalled_thenItIsHeldMeanwhileAndFreeAfterwards() {
    assertThat(service.<Boolean>under(() -> app.isHeld("fixed"))).isTrue();
    assertThat(app.isHeld("fixed")).isFalse();
    assertThat(service.fixed()).isEqualTo("fixed");
    assertThat(LockContext.find()).isEmpty();
  }

  @Test
  void givenTemplates_whenCalled_thenNamesAreThoseOfTheArguments() {
    assertThat(service.parameter(42)).isEqualTo("invoice/42");
    assertThat(service.expression(new Invoice(7, List.of("a", "bb", "cc")), Region.NORTH))
        .isEqualTo("7/NORTH/NORTH/2");
    assertThat(service.beansAndProperties(-3)).isEqualTo("tenant/blue/eu/3");
    assertThat(service.anything(Optional.of("there"))).isEqualTo("object/there");
  }

  @Test
  void givenValueWithoutAText_whenCalled_thenNothingIsLocked() {
    for (Object value :
        new Object[] {
          null, "", " ", Optional.empty(), new Object(), new int[] {1}, List.of("a"), Map.of()
        }) {
      assertThatThrownBy(() -> service.anything(value))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("object/#{#value}")
          .hasMessageContaining("Service.anything(Object)")
          .hasMessageContaining("not run");
    }
    assertThatThrownBy(() -> service.anything("control\n"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("control character");
    assertThat(app.other().admin().list(LockQuery.all().withIdle().page(null, 10)).items())
        .isEmpty();
  }

  @Test
  void givenSeveralNames_whenCalled_thenAllAreHeldInTheOrderOfTheirNames() {
    assertThat(service.transfer(2, 1)).containsExactly("account/1", "account/2");
    assertThat(service.transfer(3, 3)).containsExactly("account/3");
    Lease blocked = app.hold("account/2");
    assertThatThrownBy(() -> service.transfer(1, 2)).isInstanceOf(LockTimeoutException.class);
    assertThat(app.isHeld("account/1")).isFalse();
    blocked.close();
  }

  @Test
  void givenSeveralLocks_whenTheOneLeaseIsAskedFor_thenItWantsAName() throws Exception {
    LockTemplate.over(app.bean(LockClient.class))
        .withLocks(
            List.of("a", "b"),
            () -> {
              LockContext context = LockContext.current();
              assertThatThrownBy(context::token)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("[a, b]");
              assertThat(context.lease("b").map(Lease::name)).contains("b");
              service.fixed();
              assertThat(context.lease("fixed")).isEmpty();
            });
  }

  @Test
  void givenBusyLock_whenCalled_thenItIsThrownAsSoonAsTheWaitIsOver() {
    try (Lease busy = app.hold("busy")) {
      assertThat(busy.isValid()).isTrue();
      assertThatThrownBy(service::thrown).isInstanceOf(LockTimeoutException.class);
      assertThatThrownBy(service::thrownLater)
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("20ms");
      assertThatThrownBy(service::waitsByDefault)
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("2s");
    }
    service.thrown();
  }

  @Test
  void givenBusyLock_whenTheCallIsSkipped_thenItReturnsNothing() {
    try (Lease busy = app.hold("busy")) {
      assertThat(busy.isValid()).isTrue();
      service.skippedVoid();
      assertThat(service.skippedOptional()).isEmpty();
      assertThat(service.skippedInt()).isEmpty();
      assertThat(service.skippedReference()).isNull();
      assertThat(service.skippedGroup()).isEmpty();
      assertThat(service.skippedByMetaAnnotation()).isEmpty();
      assertThat(app.isHeld("idle")).isFalse();
    }
    // It waits for a millisecond, which may pass before the answer arrives.
    await().until(() -> service.skippedOptional().isPresent());
    assertThat(service.skippedGroup()).contains("run");
    assertThat(service.skippedByMetaAnnotation()).contains("run");
  }

  @Test
  void givenEndlessWait_whenItIsInterrupted_thenTheMethodIsNotRun() throws Exception {
    try (Lease busy = app.hold("busy")) {
      assertThat(busy.isValid()).isTrue();
      Thread.currentThread().interrupt();
      assertThatThrownBy(service::waitsForever)
          .isInstanceOf(LockException.class)
          .hasCauseInstanceOf(InterruptedException.class)
          .hasMessageContaining("waitsForever()");
      assertThat(Thread.interrupted()).isTrue();
      Thread.currentThread().interrupt();
      assertThatThrownBy(service::waitsForeverAndDeclares).isInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).isFalse();
    }
    service.waitsForever();
    service.waitsForeverAndDeclares();
  }

  @Test
  void givenAtMost_whenHeld_thenTheStoreKnowsTheTime() {
    service.atMost(
        () ->
            assertThat(app.info("timed").orElseThrow().holders().get(0).atMostLeft())
                .isBetween(Duration.ofMinutes(110), Duration.ofHours(2)));
  }

  @Test
  void givenAtLeast_whenTheMethodIsDone_thenTheLockStaysShut() {
    assertThat(service.atLeast()).contains("run");
    assertThat(app.info("timed").map(LockInfo::state)).contains(LockState.SHUT);
    assertThat(service.atLeast()).isEmpty();
    assertThat(app.other().admin().reopen("timed")).isTrue();
    assertThat(service.atLeast()).contains("run");
  }

  @Test
  void givenSticky_whenTheMethodIsDone_thenItsProcessKeepsTheLock_untilAnotherWantsIt()
      throws Exception {
    long first = service.sticky();
    assertThat(app.info("sticky").orElseThrow().holders())
        .singleElement()
        .matches(LockParticipant::sticky);
    assertThat(service.sticky()).isEqualTo(first + 1);
    try (Lease other = app.hold("sticky")) {
      assertThat(other.token()).isGreaterThan(first + 1);
    }
  }

  @Test
  void givenSharedMode_whenHeld_thenOthersShareAndWritersWait() throws Exception {
    try (Lease reader = app.other().readWriteLock("read").readLock().tryAcquire().orElseThrow()) {
      assertThat(reader.isValid()).isTrue();
      service.shared(
          () -> {
            assertThat(app.info("read").orElseThrow().holders())
                .hasSize(2)
                .allMatch(holder -> holder.share().kind() == Access.SHARED);
            assertThatThrownBy(() -> LockContext.current().fencingToken())
                .isInstanceOf(IllegalStateException.class);
          });
    }
    try (Lease writer = app.hold("read")) {
      assertThat(writer.isValid()).isTrue();
      assertThatThrownBy(service::sharedNow).isInstanceOf(LockTimeoutException.class);
    }
  }

  @Test
  void givenFairMode_whenCalled_thenItIsHeld() {
    assertThat(service.fair()).isEqualTo("fair");
  }

  @Test
  void givenHeldLock_whenItIsAskedForAgain_thenTheCallJoins() {
    String again = service.under(() -> service.<String>under(() -> service.fixed()));
    assertThat(again).isEqualTo("fixed");
    service.exclusive(() -> service.shared(() -> assertThat(app.isHeld("read")).isTrue()));
    assertThat(app.isHeld("read")).isFalse();
    assertThat(app.isHeld("fixed")).isFalse();
  }

  @Test
  void givenHeldLock_whenTheInnerCallReturns_thenItIsStillHeld() {
    service.under(
        () -> {
          String inner = service.fixed();
          assertThat(app.isHeld(inner)).isTrue();
          return inner;
        });
  }

  @Test
  void givenSharedHold_whenItIsAskedForExclusively_thenItIsRefusedAtOnce() {
    service.shared(
        () ->
            assertThatThrownBy(() -> service.exclusive(() -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("wait for itself"));
    service.exclusive(() -> assertThat(app.isHeld("read")).isTrue());
  }

  @Test
  void givenGroup_whenOneOfItsLocksIsHeldAlready_thenTheOthersAreAcquired() {
    LockTemplate template = LockTemplate.over(app.bean(LockClient.class));
    assertThatNoException(
        () ->
            template.withLock(
                "account/1",
                () -> {
                  assertThat(service.transfer(1, 2)).containsExactly("account/1", "account/2");
                  assertThat(app.isHeld("account/1")).isTrue();
                  assertThat(app.isHeld("account/2")).isFalse();
                }));
  }

  private interface Task {
    void run() throws Exception;
  }

  private static void assertThatNoException(Task task) {
    org.assertj.core.api.Assertions.assertThatCode(task::run).doesNotThrowAnyException();
  }

  @Test
  void givenContextOnAnotherThread_whenItAsksForTheLock_thenItDoesNotJoin() throws Exception {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    service.under(
        () -> {
          LockContext context = LockContext.current();
          Thread worker =
              new Thread(
                  () -> {
                    try (LockContext.Scope inside = context.open()) {
                      assertThat(inside).isNotNull();
                      assertThat(LockContext.current().token()).isEqualTo(context.token());
                      service.fixed();
                    } catch (Throwable e) {
                      thrown.set(e);
                    }
                  });
          worker.start();
          try {
            worker.join();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
          return "";
        });
    assertThat(thrown.get()).isInstanceOf(LockTimeoutException.class);
  }

  @Test
  void givenInterrupt_whenTheLockIsLost_thenTheMethodIsInterrupted() {
    assertThatThrownBy(() -> service.interruptedOnLoss(() -> app.evict("lost")))
        .isInstanceOf(LeaseLostException.class)
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .hasAtLeastOneElementOfType(InterruptedException.class));
    assertThat(Thread.interrupted()).isFalse();
    assertThatThrownBy(() -> service.groupInterruptedOnLoss(() -> app.evict("lost")))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(app.isHeld("other")).isFalse();
  }

  @Test
  void givenNoInterrupt_whenTheLockIsLost_thenTheMethodRunsOnAndTheLossIsTold() {
    AtomicReference<String> reached = new AtomicReference<>();
    assertThatThrownBy(
            () ->
                service.notInterruptedOnLoss(
                    () -> {
                      Lease lease = LockContext.current().lease();
                      app.evict("lost");
                      await().until(() -> !lease.isValid());
                      assertThatThrownBy(() -> LockContext.current().ensureValid())
                          .isInstanceOf(LeaseLostException.class);
                      reached.set("end");
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(reached).hasValue("end");
  }

  @Test
  void givenFailingMethod_whenCalled_thenItsExceptionComesOutAndTheLockIsFree() {
    assertThatThrownBy(service::fails)
        .isInstanceOf(java.io.IOException.class)
        .hasMessage("the method's own")
        .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
    assertThat(app.isHeld("failing")).isFalse();
    assertThat(LockContext.find()).isEmpty();
  }

  @Test
  void givenAnnotatedInterface_whenCalled_thenItIsLocked() {
    assertThat(app.bean(Pricing.class).isLocked()).isTrue();
  }

  @Test
  void givenSeveralClients_whenOneIsNamed_thenItsStoreHoldsTheLock() {
    assertThat(service.elsewhere()).isPositive();
    assertThat(app.info("elsewhere")).isEmpty();
  }

  @Test
  void givenTokens_whenCalledOneAfterTheOther_thenTheyRise() {
    long first = service.under(() -> LockContext.current().token());
    long second = service.under(() -> LockContext.current().fencingToken().value());
    assertThat(second).isGreaterThan(first);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableMortise(proxyTargetClass = true)
  @Import(Config.class)
  static class SubclassProxies {}

  @Test
  void givenProxyTargetClass_whenABeanHasInterfaces_thenItIsASubclassAllTheSame() {
    try (SpringApp subclassed =
        SpringApp.start(Map.of("region", "eu", "short", "1ms"), SubclassProxies.class)) {
      assertThat(subclassed.bean(PricingService.class).isLocked()).isTrue();
    }
  }

  @Test
  void givenBuild_whenItsTestsRun_thenSpringIsOfTheVersionThatIsMeant() {
    assertThat(SpringVersion.getVersion())
        .isEqualTo(System.getProperty("mortise.spring", SpringVersion.getVersion()));
  }

  static class Closing implements DisposableBean {
    final AtomicReference<LockClient> client = new AtomicReference<>();
    final AtomicReference<Boolean> had = new AtomicReference<>();

    @Locked("closing")
    void remember(LockClient locks) {
      client.set(locks);
    }

    @Override
    public void destroy() {
      had.set(client.get().lock("closing").tryAcquire().isPresent());
    }
  }

  /** The bean is created before the client, and would be destroyed after it. */
  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class ClosingConfig {
    static final AtomicReference<Closing> MADE = new AtomicReference<>();

    @Bean
    Closing closing() {
      Closing made = new Closing();
      MADE.set(made);
      return made;
    }

    @Bean
    LockClient locks() {
      return LockClient.connect(SpringApp.newUrl());
    }
  }

  @Test
  void givenContext_whenItIsClosed_thenBeansWithLockedMethodsAreDestroyedBeforeTheClient() {
    try (AnnotationConfigApplicationContext context =
        new AnnotationConfigApplicationContext(ClosingConfig.class)) {
      context.getBean(Closing.class).remember(context.getBean(LockClient.class));
    }
    assertThat(ClosingConfig.MADE.get().had).hasValue(true);
  }
}
