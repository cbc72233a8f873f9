-- Tables of the bench's hand-written protocols and of the peers, for every measured database.

create table if not exists plain_lock (name varchar(255) primary key, holder bigint not null, since timestamp not null);

create table if not exists shedlock (name varchar(255) primary key, lock_until timestamp(6) not null, locked_at timestamp(6) not null, locked_by varchar(255) not null);

create table if not exists INT_LOCK (LOCK_KEY char(36) not null, REGION varchar(100) not null, CLIENT_ID char(36), CREATED_DATE timestamp(6) not null, EXPIRED_AFTER timestamp(6) not null, primary key (LOCK_KEY, REGION));

create table if not exists ticket_lock (name varchar(255) primary key, next_ticket bigint not null, turn bigint not null);
