package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.event.LockListener;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;
import org.springframework.scheduling.concurrent.ForkJoinPoolFactoryBean;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolExecutorFactoryBean;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * A client outlives all beans that run locked methods: their leases are valid until they have
 * ended.
 */
class ClientsCloseLastTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int WAIT_SECONDS = 60;

  static class Progress {
    final CountDownLatch began = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    final List<String> said = new CopyOnWriteArrayList<>();
  }

  /** Runs until it may end, and reports its outcome. */
  static class Job {
    private final Progress progress;

    Job(Progress progress) {
      this.progress = progress;
    }

    @Locked("job")
    public void work() {
      Lease lease = LockContext.current().lease();
      progress.began.countDown();
      try {
        progress.said.add(
            progress.mayEnd.await(WAIT_SECONDS, TimeUnit.SECONDS) ? "ended" : "timeout");
      } catch (InterruptedException e) {
        progress.said.add("interrupted");
      }
      progress.said.add(lease.isValid() ? "valid" : "not valid");
    }
  }

  /** Has the job run by the bean that a configuration tests. */
  interface Start {
    void start(Job job);
  }

  @Configuration(proxyBeanMethods = false)
  static class Pool {
    @Bean
    ThreadPoolTaskExecutor runner() {
      ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
      pool.setWaitForTasksToCompleteOnShutdown(true);
      pool.setAwaitTerminationSeconds(WAIT_SECONDS);
      return pool;
    }

    @Bean
    Start start(Executor runner) {
      return job -> runner.execute(job::work);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class PoolThatWaitsInItsPhase {
    @Bean
    ThreadPoolTaskExecutor runner() {
      return new ThreadPoolTaskExecutor();
    }

    @Bean
    Start start(Executor runner) {
      return job -> runner.execute(job::work);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ThreadPerTask {
    @Bean
    SimpleAsyncTaskExecutor runner() {
      SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
      executor.setTaskTerminationTimeout(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
      return executor;
    }

    @Bean
    Start start(Executor runner) {
      return job -> runner.execute(job::work);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  static class Asynchronous extends Pool {
    static class AsyncCall {
      @Async
      public void run(Job job) {
        job.work();
      }
    }

    @Bean
    AsyncCall asyncCall() {
      return new AsyncCall();
    }

    @Bean
    @Primary
    Start asyncStart(AsyncCall call) {
      return call::run;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Schedule {
    static class Ticks {
      private final ObjectProvider<Job> job;

      Ticks(ObjectProvider<Job> job) {
        this.job = job;
      }

      @Scheduled(fixedDelay = 3_600_000)
      public void tick() {
        job.getObject().work();
      }
    }

    @Bean
    Ticks ticks(ObjectProvider<Job> job) {
      return new Ticks(job);
    }

    @Bean
    Start start() {
      return job -> {};
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class SchedulingPool extends Schedule {
    @Bean
    ThreadPoolTaskScheduler taskScheduler() {
      ThreadPoolTaskScheduler pool = new ThreadPoolTaskScheduler();
      pool.setWaitForTasksToCompleteOnShutdown(true);
      pool.setAwaitTerminationSeconds(WAIT_SECONDS);
      return pool;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class SchedulerOfThreads extends Schedule {
    @Bean
    SimpleAsyncTaskScheduler taskScheduler() {
      SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
      scheduler.setTaskTerminationTimeout(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
      return scheduler;
    }
  }

  /** The Java executor has a bean that ends it. */
  @Configuration(proxyBeanMethods = false)
  static class SchedulerOverAnExecutor extends Schedule {
    static class Ended implements DisposableBean {
      final ScheduledExecutorService executor = Executors.newScheduledThreadPool(1);

      @Override
      public void destroy() throws InterruptedException {
        end(executor);
      }
    }

    @Bean
    Ended ended() {
      return new Ended();
    }

    @Bean
    TaskScheduler taskScheduler(Ended ended) {
      return new ConcurrentTaskScheduler(ended.executor) {};
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class FactoryOfAPool {
    @Bean
    ThreadPoolExecutorFactoryBean runner() {
      ThreadPoolExecutorFactoryBean factory = new ThreadPoolExecutorFactoryBean();
      factory.setWaitForTasksToCompleteOnShutdown(true);
      factory.setAwaitTerminationSeconds(WAIT_SECONDS);
      return factory;
    }

    @Bean
    Start start(ExecutorService runner) {
      return job -> runner.execute(job::work);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class FactoryOfAForkJoinPool {
    @Bean
    ForkJoinPoolFactoryBean runner() {
      ForkJoinPoolFactoryBean factory = new ForkJoinPoolFactoryBean();
      factory.setAwaitTerminationSeconds(WAIT_SECONDS);
      return factory;
    }

    @Bean
    Start start(ForkJoinPool runner) {
      return job -> runner.execute(job::work);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnExecutor {
    static class OwnRunner implements Executor, DisposableBean {
      final ExecutorService threads = Executors.newSingleThreadExecutor();

      @Override
      public void execute(Runnable task) {
        threads.execute(task);
      }

      @Override
      public void destroy() throws InterruptedException {
        end(threads);
      }
    }

    @Bean
    OwnRunner runner() {
      return new OwnRunner();
    }

    @Bean
    Start start(OwnRunner runner) {
      return job -> runner.execute(job::work);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class LazyExecutor {
    @Bean
    @Lazy
    OwnExecutor.OwnRunner runner() {
      return new OwnExecutor.OwnRunner();
    }

    @Bean
    Start start(ObjectProvider<OwnExecutor.OwnRunner> runner) {
      return job -> runner.getObject().execute(job::work);
    }
  }

  /** Like message containers: they wait only in their destruction. */
  @Configuration(proxyBeanMethods = false)
  static class Container {
    static class ContainerRunner extends OwnExecutor.OwnRunner implements SmartLifecycle {
      @Override
      public void start() {}

      @Override
      public void stop() {}

      @Override
      public boolean isRunning() {
        return true;
      }
    }

    @Bean
    ContainerRunner runner() {
      return new ContainerRunner();
    }

    @Bean
    Start start(ContainerRunner runner) {
      return job -> runner.execute(job::work);
    }
  }

  /** Neither an executor nor one of Spring's types: a bean that uses locks hands it tasks. */
  @Configuration(proxyBeanMethods = false)
  static class Worker {
    static class WorkRunner implements DisposableBean {
      final ExecutorService threads = Executors.newSingleThreadExecutor();

      @Override
      public void destroy() throws InterruptedException {
        end(threads);
      }
    }

    static class Submitter {
      private final WorkRunner runner;

      Submitter(WorkRunner runner) {
        this.runner = runner;
      }

      @Locked("submitter")
      public void submit(Job job) {
        runner.threads.execute(job::work);
      }
    }

    @Bean
    WorkRunner runner() {
      return new WorkRunner();
    }

    @Bean
    Submitter submitter(WorkRunner runner) {
      return new Submitter(runner);
    }

    @Bean
    Start start(Submitter submitter) {
      return submitter::submit;
    }
  }

  private static void end(ExecutorService executor) throws InterruptedException {
    executor.shutdown();
    boolean unused = executor.awaitTermination(WAIT_SECONDS, TimeUnit.SECONDS);
  }

  /** Without a dependency that Spring knows: the order of creation decides which one ends first. */
  static class Server implements DisposableBean {
    LockClient client;
    boolean outlivedClient;

    @Override
    public void destroy() {
      outlivedClient = isClosed(client);
    }
  }

  /** Used by the client, and by an executor of its own. */
  static class Listener implements LockListener, DisposableBean {
    final List<String> told = new CopyOnWriteArrayList<>();

    @Override
    public void onLeaseEnded(LeaseEnded event) {
      told.add("lease ended");
    }

    @Override
    public void destroy() {
      told.add("destroyed");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Servers {
    @Bean
    Server server() {
      return new Server();
    }

    /** The factory is no bean, though Spring lists it as a dependency. */
    @Bean
    Listener listener(ListableBeanFactory beans) {
      return new Listener();
    }

    @Bean
    Progress progress() {
      return new Progress();
    }

    @Bean
    Job job(Progress progress) {
      return new Job(progress);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class Locks {
    static final String URL = SpringApp.newUrl();

    @Bean
    LockClient locks(ObjectProvider<Server> server, Listener listener) {
      LockClient client = LockClient.builder().url(URL).listener(listener).build();
      server.getObject().client = client;
      return client;
    }
  }

  private static boolean isClosed(LockClient client) {
    try {
      return client.lock("open") == null;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** Closes the context while the job runs, lets the job end, and checks its lock. */
  private static void assertLockedToItsEnd(ConfigurableApplicationContext context)
      throws InterruptedException {
    Progress job = context.getBean(Progress.class);
    context.getBean(Start.class).start(context.getBean(Job.class));
    assertThat(job.began.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    Thread closing = new Thread(context::close);
    closing.start();
    try (LockClient other = LockClient.connect(Locks.URL)) {
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  Set.of(Thread.State.TIMED_WAITING, Thread.State.TERMINATED)
                      .contains(closing.getState()));
      assertThat(other.lock("job").tryAcquire()).isEmpty();
      job.mayEnd.countDown();
      closing.join(PATIENCE.toMillis());
      assertThat(job.said).containsExactly("ended", "valid");
      assertThat(other.lock("job").tryAcquire()).isPresent();
    } finally {
      job.mayEnd.countDown();
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Pool.class,
        PoolThatWaitsInItsPhase.class,
        ThreadPerTask.class,
        Asynchronous.class,
        SchedulingPool.class,
        SchedulerOfThreads.class,
        SchedulerOverAnExecutor.class,
        FactoryOfAPool.class,
        FactoryOfAForkJoinPool.class,
        OwnExecutor.class,
        LazyExecutor.class,
        Container.class,
        Worker.class
      })
  void givenRunningJob_whenContextCloses_thenItsLeaseIsValidToItsEnd_andItsLockIsFreeThen(
      Class<?> runner) throws Exception {
    try (AnnotationConfigApplicationContext context =
        new AnnotationConfigApplicationContext(Servers.class, runner, Locks.class)) {
      Server server = context.getBean(Server.class);
      Listener listener = context.getBean(Listener.class);
      assertLockedToItsEnd(context);
      assertThat(isClosed(server.client)).isTrue();
      assertThat(server.outlivedClient).isTrue();
      assertThat(listener.told).endsWith("lease ended", "destroyed");
    }
  }

  /** The client keeps its locks there, and locked methods work with it. */
  static class Source extends AbstractDataSource implements DisposableBean {
    LockClient client;
    boolean outlivedClient;

    String url() {
      return Locks.URL;
    }

    @Override
    public Connection getConnection() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Connection getConnection(String user, String password) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void destroy() {
      outlivedClient = isClosed(client);
    }
  }

  static class SourceUser {
    final Source source;

    SourceUser(Source source) {
      this.source = source;
    }

    @Locked("source-user")
    public String read() {
      return source.url();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableMortise
  static class Sources {
    @Bean
    Source source() {
      return new Source();
    }

    @Bean
    SourceUser user(Source source) {
      return new SourceUser(source);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class GetsParameter extends Sources {
    @Bean
    LockClient locks(Source source) {
      return LockClient.connect(source.url());
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class GetsField extends Sources {
    @Autowired Source source;

    @Bean
    LockClient locks() {
      return LockClient.connect(source.url());
    }
  }

  @Configuration
  static class CallsMethod extends Sources {
    @Bean
    LockClient locks() {
      return LockClient.connect(source().url());
    }
  }

  /** Spring knows of it only from Framework 7 on. */
  @Configuration(proxyBeanMethods = false)
  static class GetsProvider extends Sources {
    @Bean
    LockClient locks(ObjectProvider<Source> source) {
      return LockClient.connect(source.getObject().url());
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {GetsParameter.class, GetsField.class, CallsMethod.class, GetsProvider.class})
  void givenDataSourceOfClientAndLockedMethods_whenContextCloses_thenItOutlivesTheClient(
      Class<?> configuration) {
    Source source;
    try (AnnotationConfigApplicationContext context =
        new AnnotationConfigApplicationContext(configuration)) {
      source = context.getBean(Source.class);
      source.client = context.getBean(LockClient.class);
      assertThat(context.getBean(SourceUser.class).read()).isEqualTo(Locks.URL);
    }
    assertThat(source.outlivedClient).isTrue();
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoClients extends Locks {
    /** Created before the executor, and used by no bean. */
    @Bean
    LockClient more(Listener listener) {
      return LockClient.builder().url(URL).listener(listener).build();
    }

    @Bean
    @Primary
    @Override
    LockClient locks(ObjectProvider<Server> server, Listener listener) {
      return super.locks(server, listener);
    }
  }

  @Test
  void givenTwoClients_whenContextCloses_thenBothCloseAfterTheExecutor() throws Exception {
    try (AnnotationConfigApplicationContext context =
        new AnnotationConfigApplicationContext(Servers.class, Pool.class, TwoClients.class)) {
      Set<LockClient> clients = Set.copyOf(context.getBeansOfType(LockClient.class).values());
      assertLockedToItsEnd(context);
      assertThat(clients).hasSize(2).allMatch(ClientsCloseLastTest::isClosed);
    }
  }

  @Test
  void givenChildContext_whenItCloses_thenTheClientOfItsParentStaysOpen() {
    try (AnnotationConfigApplicationContext parent =
        new AnnotationConfigApplicationContext(Servers.class, Locks.class)) {
      AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
      child.setParent(parent);
      child.register(OwnExecutor.class);
      child.refresh();
      child.close();
      assertThat(isClosed(parent.getBean(LockClient.class))).isFalse();
      assertThat(parent.getBeanFactory().getDependentBeans("locks")).doesNotContain("runner");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Failing {
    @Bean
    DisposableBean failing(LockClient locks, Server server) {
      assertThat(isClosed(locks)).isFalse();
      throw new IllegalStateException("of the test");
    }
  }

  @Test
  void givenStartThatFails_thenTheClientIsClosed_andNoThreadOfItIsLeft() {
    Set<Thread> before = threads();
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.register(Servers.class, Pool.class, Locks.class, Failing.class);
    assertThatThrownBy(context::refresh).hasStackTraceContaining("of the test");
    await().atMost(PATIENCE).until(() -> before.containsAll(threads()));
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("mortise"))
        .collect(Collectors.toSet());
  }

  @Test
  void givenRunningContext_thenExecutorsAreNotShownToDependOnTheClient() {
    try (AnnotationConfigApplicationContext context =
        new AnnotationConfigApplicationContext(Servers.class, Pool.class, Locks.class)) {
      assertThat(context.getBeanFactory().getDependentBeans("locks")).doesNotContain("runner");
    }
  }
}
